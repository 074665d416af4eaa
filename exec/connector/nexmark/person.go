package nexmark

import "strconv"

// The values that people are made of, as published.
var (
	states     = [...]string{"AZ", "CA", "ID", "OR", "WA", "WY"}
	cities     = [...]string{"Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"}
	firstNames = [...]string{"Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"}
	lastNames  = [...]string{"Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"}
)

// personFields are the columns of a person, in the published order.
var personFields = []field{
	{"id", integer, ints(func(m *model, id int64) int64 { return m.lastPerson(id) + m.firstPerson })},
	{"name", characters, texts(personName)},
	{"email_address", characters, texts(email)},
	{"credit_card", characters, texts(creditCard)},
	{"city", characters, texts(func(_ *model, dst []byte, id int64) []byte {
		return append(dst, cities[draw(id, dieCity, int64(len(cities)))]...)
	})},
	{"state", characters, texts(func(_ *model, dst []byte, id int64) []byte {
		return append(dst, states[draw(id, dieState, int64(len(states)))]...)
	})},
	{"date_time", timestamp, eventTime},
	{"extra", characters, texts(personExtra)},
}

func names(id int64) (first, last string) {
	return firstNames[draw(id, dieFirstName, int64(len(firstNames)))], lastNames[draw(id, dieLastName, int64(len(lastNames)))]
}

func personName(_ *model, dst []byte, id int64) []byte {
	first, last := names(id)
	return append(append(append(dst, first...), ' '), last...)
}

func email(_ *model, dst []byte, id int64) []byte {
	dst = append(dst, text(letters, roll(id, dieMailbox), 7)...)
	dst = append(append(dst, '@'), text(letters, roll(id, dieHost), 5)...)
	return append(dst, ".com"...)
}

// creditCard is four times four digits.
func creditCard(_ *model, dst []byte, id int64) []byte {
	r := roll(id, dieCard)
	for i := range 4 {
		if i > 0 {
			dst = append(dst, ' ')
		}
		digits := 10_000 + below(r<<(16*i), 10_000)
		dst = append(dst, strconv.Itoa(int(digits))[1:]...)
	}
	return dst
}

// personExtra brings a person to the size that the configuration asks for: 8 bytes of id and time, and its texts.
func personExtra(m *model, dst []byte, id int64) []byte {
	first, last := names(id)
	have := 8 + len(first) + 1 + len(last) + len(email(m, nil, id)) + 19 + len(cities[draw(id, dieCity, int64(len(cities)))]) + 2
	r := roll(id, diePersonExtra)
	return append(dst, cut(letters, r, extraSize(r, have, int(m.personSize)))...)
}
