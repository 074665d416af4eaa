package kernel

import "math"

// Trigonometry in degrees. As in PostgreSQL, results are scaled by what the library gives for 30, 45 and 60 degrees, so that the well-known
// values come out exact.

// perDegree is a variable: the products of constants would be rounded otherwise than those of arguments.
var perDegree = math.Pi / 180

var (
	sin30       = math.Sin(30 * perDegree)
	lessCos60   = 1 - math.Cos(60*perDegree)
	asinHalf    = math.Asin(0.5)
	acosHalf    = math.Acos(0.5)
	atanOne     = math.Atan(1)
	tan45       = sinFirst(45) / cosFirst(45)
	cot45       = cosFirst(45) / sinFirst(45)
	degreeImpls = map[string]impl{
		"sind(float8)":  domain(isFinite, sinDegrees),
		"cosd(float8)":  domain(isFinite, cosDegrees),
		"tand(float8)":  domain(isFinite, func(x float64) float64 { return ratioDegrees(x, sinFirst, cosFirst, tan45) }),
		"cotd(float8)":  domain(isFinite, func(x float64) float64 { return ratioDegrees(x, cosFirst, sinFirst, cot45) }),
		"asind(float8)": domain(unitInterval, asinDegrees),
		"acosd(float8)": domain(unitInterval, func(x float64) float64 {
			if x < 0 {
				return 90 + asinPositive(-x)
			}
			return acosPositive(x)
		}),
		"atand(float8)": float1(func(x float64) float64 { return math.Atan(x) / atanOne * 45 }),
		"atan2d(float8,float8)": floatPair(func(y, x float64) (float64, error) {
			return math.Atan2(y, x) / atanOne * 45, nil
		}),
	}
)

// sinTo30 and cosTo60 are exact at both ends of their range.
func sinTo30(x float64) float64 { return math.Sin(x*perDegree) / sin30 / 2 }

func cosTo60(x float64) float64 { return 1 - (1-math.Cos(x*perDegree))/lessCos60/2 }

// sinFirst and cosFirst are for the first quadrant.
func sinFirst(x float64) float64 {
	if x <= 30 {
		return sinTo30(x)
	}
	return cosTo60(90 - x)
}

func cosFirst(x float64) float64 {
	if x <= 60 {
		return cosTo60(x)
	}
	return sinTo30(90 - x)
}

func sinDegrees(x float64) float64 {
	sign := 1.0
	x = math.Mod(x, 360)
	if x < 0 {
		x, sign = -x, -sign
	}
	if x > 180 {
		x, sign = 360-x, -sign
	}
	if x > 90 {
		x = 180 - x
	}
	return sign * sinFirst(x)
}

func cosDegrees(x float64) float64 {
	sign := 1.0
	x = math.Abs(math.Mod(x, 360))
	if x > 180 {
		x = 360 - x
	}
	if x > 90 {
		x, sign = 180-x, -sign
	}
	return sign * cosFirst(x)
}

// ratioDegrees is the tangent or cotangent: over / under of the first quadrant, scaled to be 1 at 45 degrees.
func ratioDegrees(x float64, over, under func(float64) float64, at45 float64) float64 {
	sign := 1.0
	x = math.Mod(x, 360)
	if x < 0 {
		x, sign = -x, -sign
	}
	if x > 180 {
		x, sign = 360-x, -sign
	}
	if x > 90 {
		x, sign = 180-x, -sign
	}
	r := sign * (over(x) / under(x) / at45)
	if r == 0 {
		return 0 // not -0
	}
	return r
}

func asinPositive(x float64) float64 {
	if x <= 0.5 {
		return math.Asin(x) / asinHalf * 30
	}
	return 90 - math.Acos(x)/acosHalf*60
}

func acosPositive(x float64) float64 {
	if x <= 0.5 {
		return 90 - math.Asin(x)/asinHalf*30
	}
	return math.Acos(x) / acosHalf * 60
}

func asinDegrees(x float64) float64 {
	if x < 0 {
		return -asinPositive(-x)
	}
	return asinPositive(x)
}
