package parser

// maxKeyword is the length of the longest key word.
const maxKeyword = 17

var keywordIndex = func() map[string]keyword {
	m := make(map[string]keyword, len(keywords))
	for k, info := range keywords {
		if k != int(noKeyword) {
			m[info.word] = keyword(k)
		}
	}
	return m
}()

func (k keyword) category() category { return keywords[k].cat }

// lookupKeyword gives the key word that s is, in any case, or noKeyword.
func lookupKeyword(s string) keyword {
	if len(s) > maxKeyword {
		return noKeyword
	}
	var buf [maxKeyword]byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	return keywordIndex[string(buf[:len(s)])]
}
