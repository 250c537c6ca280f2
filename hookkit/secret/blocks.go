package secret

import "strings"

// blocks finds private keys and what else is armoured like them. One that is cut off goes to the end.
func (s *scanner) blocks() {
	text := s.text
	for from := 0; ; {
		i := strings.Index(text[from:], "-----BEGIN")
		if i < 0 {
			return
		}
		from += i
		end := len(text)
		if j := strings.Index(text[from:], "-----END"); j >= 0 {
			end = from + j + len("-----END")
			if k := strings.Index(text[end:], "-----"); k >= 0 {
				end += k + len("-----")
			}
		}
		kind := Armoured
		if strings.Contains(text[from:min(end, from+80)], "PRIVATE KEY") {
			kind = PrivateKey
		}
		s.hide(kind, from, end)
		from = end
	}
}
