package types

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tidemarkdb/tidemark/sql/sqlerr"
)

// numPattern is what a number template asks for as a whole.
type numPattern struct {
	nodes                []patternNode
	pre, post, multi     int
	zeroStart, zeroEnd   int
	preAtSign            int
	zero, decimal, fill  bool
	blank                bool
	signPre, signPost    bool // S before or after the digits
	minus, plus, bracket bool
	roman, eeee, isMulti bool
}

func errNumPattern(format string, args ...any) error {
	return sqlerr.New(sqlerr.SyntaxError, format, args...)
}

func parseNumPattern(format string) (numPattern, error) {
	p := numPattern{nodes: parsePattern(format, true)}
	for _, n := range p.nodes {
		if n.id == "" {
			continue
		}
		if p.eeee && n.id != "EEEE" {
			return p, errNumPattern("\"EEEE\" must be the last pattern used")
		}
		if err := p.take(n.id); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *numPattern) take(id string) error {
	switch id {
	case "9":
		switch {
		case p.bracket:
			return errNumPattern("\"9\" must be ahead of \"PR\"")
		case p.isMulti:
			p.multi++
		case p.decimal:
			p.post++
		default:
			p.pre++
		}
	case "0":
		if p.bracket {
			return errNumPattern("\"0\" must be ahead of \"PR\"")
		}
		if !p.zero && !p.decimal {
			p.zero, p.zeroStart = true, p.pre+1
		}
		if p.decimal {
			p.post++
		} else {
			p.pre++
		}
		p.zeroEnd = p.pre + p.post
	case "B":
		p.blank = p.blank || p.pre == 0 && p.post == 0 && !p.zero
	case "D", ".":
		if p.decimal {
			return errNumPattern("multiple decimal points")
		}
		if p.isMulti {
			return errNumPattern("cannot use \"V\" and decimal point together")
		}
		p.decimal = true
	case "FM":
		p.fill = true
	case "S":
		if p.signPre || p.signPost {
			return errNumPattern("cannot use \"S\" twice")
		}
		if p.plus || p.minus || p.bracket {
			return errNumPattern("cannot use \"S\" and \"PL\"/\"MI\"/\"SG\"/\"PR\" together")
		}
		if p.decimal {
			p.signPost = true
		} else {
			p.signPre, p.preAtSign = true, p.pre
		}
	case "MI", "PL", "SG":
		if p.signPre || p.signPost {
			return errNumPattern("cannot use \"S\" and \"%s\" together", id)
		}
		p.minus = p.minus || id != "PL"
		p.plus = p.plus || id != "MI"
	case "PR":
		if p.signPre || p.signPost || p.plus || p.minus {
			return errNumPattern("cannot use \"PR\" and \"S\"/\"PL\"/\"MI\"/\"SG\" together")
		}
		p.bracket = true
	case "RN", "rn":
		p.roman = true
	case "V":
		if p.decimal {
			return errNumPattern("cannot use \"V\" and decimal point together")
		}
		p.isMulti = true
	case "EEEE":
		if p.eeee {
			return errNumPattern("cannot use \"EEEE\" twice")
		}
		if p.blank || p.fill || p.signPre || p.signPost || p.bracket || p.minus || p.plus || p.roman || p.isMulti {
			return errNumPattern("\"EEEE\" is incompatible with other formats")
		}
		p.eeee = true
	}
	return nil
}

func charNumber(n Num, format string) (string, error) {
	p, err := parseNumPattern(format)
	if err != nil {
		return "", err
	}
	switch {
	case p.roman:
		i, err := n.ToInt32()
		if err != nil {
			return "", err
		}
		return p.write(toRoman(i), '+', 0), nil
	case p.eeee:
		if n.form != numFinite {
			return p.hashes(true), nil
		}
		return scientific(n, p.post), nil
	}
	if p.isMulti {
		if n, err = n.Mul(FromInt64(1).shiftLeft(p.multi)); err != nil {
			return "", err
		}
		p.pre += p.multi
	}
	return p.writeDecimal(n.Round(p.post).String()), nil
}

// charFloat is charNumber for floats, whose digits are limited to those that count.
func charFloat(f float64, maxDigits int, format string) (string, error) {
	p, err := parseNumPattern(format)
	if err != nil {
		return "", err
	}
	switch {
	case p.roman:
		if math.IsNaN(f) || math.Abs(f) > math.MaxInt32 {
			return "", sqlerr.New(sqlerr.NumericValueOutOfRange, "integer out of range")
		}
		return p.write(toRoman(int64(math.RoundToEven(f))), '+', 0), nil
	case p.eeee:
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return p.hashes(true), nil
		}
		s := fmt.Sprintf("%+.*e", p.post, f)
		if s[0] == '+' {
			s = " " + s[1:]
		}
		return s, nil
	}
	if p.isMulti {
		f *= math.Pow(10, float64(p.multi))
		p.pre += p.multi
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return p.writeDecimal(FromFloat64(f).String()), nil
	}
	pre := len(strconv.FormatFloat(math.Abs(f), 'f', 0, 64))
	post := max(min(p.post, maxDigits-pre), 0)
	p.post = post
	return p.writeDecimal(strconv.FormatFloat(f, 'f', post, 64)), nil
}

// hashes is what a number that does not fit is shown as.
func (p *numPattern) hashes(eeee bool) string {
	if eeee {
		b := []byte(strings.Repeat("#", p.pre+p.post+6))
		b[0] = ' '
		b[p.pre+1] = '.'
		return string(b)
	}
	b := []byte(strings.Repeat("#", p.pre+p.post+1))
	b[p.pre] = '.'
	return string(b)
}

func scientific(n Num, post int) string {
	sign := " "
	if n.neg {
		sign = "-"
	}
	exp := 0
	if !n.IsZero() {
		exp = n.digits() - 1 - int(n.scale)
	}
	// As in PostgreSQL, rounding may carry into a second digit before the point.
	mant := n.Abs()
	if exp >= 0 {
		mant = mant.divScale(FromInt64(1).shiftLeft(exp), int32(post))
	} else {
		mant = mant.shiftLeft(-exp).quantize(post, roundHalfAway)
	}
	return fmt.Sprintf("%s%se%+03d", sign, mant, exp)
}

func (p *numPattern) writeDecimal(text string) string {
	sign := byte('+')
	if text[0] == '-' {
		sign, text = '-', text[1:]
	}
	pre := strings.IndexByte(text, '.')
	if pre < 0 {
		pre = len(text)
	}
	spaces := 0
	if pre < p.pre {
		spaces = p.pre - pre
	} else if pre > p.pre {
		text = p.hashes(false)
	}
	return p.write(text, sign, spaces)
}

func toRoman(i int64) string {
	if i < 1 || i > 3999 {
		return strings.Repeat("#", 15)
	}
	values := [...]int64{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1}
	marks := strings.Fields("M CM D CD C XC L XL X IX V IV I")
	var b strings.Builder
	for k, v := range values {
		for ; i >= v; i -= v {
			b.WriteString(marks[k])
		}
	}
	return b.String()
}

// numWriter walks a template over the digits of a number, as PostgreSQL's NUM_processor.
type numWriter struct {
	*numPattern
	out       []byte
	number    string
	at        int // position in number
	sign      byte
	signDone  bool
	inDigits  bool
	spaces    int
	curr      int
	count     int
	relevant  int // last digit to show with FM, -1 for all
	zeroFirst int
}

func (p *numPattern) write(number string, sign byte, spaces int) string {
	if p.roman {
		*p = numPattern{nodes: p.nodes, fill: p.fill, roman: true}
	}
	w := numWriter{numPattern: p, number: number, sign: sign, spaces: spaces, relevant: -1, zeroFirst: max(p.zeroStart-1, 0)}
	if p.plus || p.minus {
		w.signDone = !(p.plus && !p.minus)
	} else {
		if sign != '-' && p.bracket && p.fill {
			p.bracket = false
		}
		w.signDone = sign == '+' && p.fill && !p.signPre && !p.signPost
		if p.signPre && p.pre == p.preAtSign {
			p.signPre, p.signPost = false, true
		}
	}
	w.count = p.post + p.pre - 1
	if p.fill && p.decimal {
		w.findRelevant()
	}
	if !w.signDone && spaces == 0 {
		w.count++
	}
	for _, n := range p.nodes {
		w.node(n)
	}
	return string(w.out)
}

func (w *numWriter) findRelevant() {
	point := strings.IndexByte(w.number, '.')
	if point < 0 {
		return
	}
	w.relevant = point
	for i := point + 1; i < len(w.number); i++ {
		if w.number[i] != '0' {
			w.relevant = i
		}
	}
	if w.zeroEnd > w.spaces {
		w.relevant = max(w.relevant, min(len(w.number)-1, w.zeroEnd-w.spaces))
	}
}

func (w *numWriter) node(n patternNode) {
	optional := func(c byte, show bool) {
		if show {
			w.out = append(w.out, c)
		} else if !w.fill {
			w.out = append(w.out, ' ')
		}
	}
	switch n.id {
	case "":
		w.out = append(w.out, n.text...)
	case "9", "0", ".", "D":
		w.digit(n.id)
	case ",", "G":
		optional(',', w.inDigits)
	case "L":
		w.out = append(w.out, ' ')
	case "RN", "rn":
		s := w.number
		if n.id == "rn" {
			s = strings.ToLower(s)
		}
		if !w.fill {
			s = fmt.Sprintf("%15s", s)
		}
		w.out = append(w.out, s...)
	case "TH", "th":
		if !w.roman && w.number[0] != '#' && w.sign != '-' && !w.decimal {
			w.out = append(w.out, ordinalSuffix(w.number, n.id[0])...)
		}
	case "MI":
		optional('-', w.sign == '-')
	case "PL":
		optional('+', w.sign == '+')
	case "SG":
		w.out = append(w.out, w.sign)
	}
}

func (w *numWriter) char() byte {
	if w.at < len(w.number) {
		return w.number[w.at]
	}
	return 0
}

// beforePoint says that this is the 0 of 0.1, which a template such as 9.9 shows as a blank.
func (w *numWriter) beforePoint() bool {
	return !w.zero && w.at == 0 && w.char() == '0' && w.post != 0
}

func (w *numWriter) relevantIsPoint() bool { return w.relevant >= 0 && w.number[w.relevant] == '.' }

func (w *numWriter) digit(id string) {
	if w.roman {
		return
	}
	w.inDigits = false
	if !w.signDone && (w.curr >= w.spaces || w.zero && w.zeroFirst == w.curr) && (!w.beforePoint() || w.relevantIsPoint()) {
		w.leadSign()
	}
	switch {
	case w.curr < w.spaces && (w.zeroFirst > w.curr || !w.zero):
		if !w.fill {
			w.out = append(w.out, ' ')
		}
	case w.zero && w.curr < w.spaces && w.zeroFirst <= w.curr:
		w.out = append(w.out, '0')
		w.inDigits = true
	default:
		w.numberChar(id)
	}
	end := w.count + boolInt(w.spaces > 0) + boolInt(w.decimal)
	if w.relevant >= 0 && w.relevant == w.at {
		end = w.curr
	}
	if w.curr+1 == end {
		switch {
		case w.signDone && w.bracket:
			w.out = append(w.out, map[bool]byte{true: ' ', false: '>'}[w.sign == '+'])
		case w.signPost:
			w.out = append(w.out, w.sign)
		}
	}
	w.curr++
}

func (w *numWriter) leadSign() {
	switch {
	case w.signPre:
		w.out = append(w.out, w.sign)
	case w.signPost:
		return
	case w.bracket:
		w.out = append(w.out, map[bool]byte{true: ' ', false: '<'}[w.sign == '+'])
	case w.sign == '-':
		w.out = append(w.out, '-')
	case !w.fill:
		w.out = append(w.out, ' ')
	}
	w.signDone = true
}

func (w *numWriter) numberChar(id string) {
	c := w.char()
	switch {
	case c == '.':
		w.out = append(w.out, '.')
	case w.relevant >= 0 && w.at > w.relevant && id != "0":
	case w.beforePoint():
		if !w.fill {
			w.out = append(w.out, ' ')
		} else if w.relevantIsPoint() {
			w.out = append(w.out, '0')
		}
	case c != 0:
		w.out = append(w.out, c)
		w.inDigits = true
	}
	if c != 0 {
		w.at++
	}
}
