package lab

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/hookkit/brepl/hookkit/secret"
)

// isDocument reports whether a text is one JSON object or array.
func isDocument(text string) bool {
	trimmed := strings.TrimSpace(text)
	return len(trimmed) > 1 && (trimmed[0] == '{' || trimmed[0] == '[') && json.Valid([]byte(trimmed))
}

// json replaces values inside the strings of a JSON text. All other bytes, and strings without a finding, stay as they are: escapes,
// lone surrogates, the spelling of numbers, white space.
func (s *sanitiser) json(data []byte) []byte {
	var out bytes.Buffer
	key, option := "", false // option: the word before, in the same list, wants a secret
	for i := 0; i < len(data); {
		if c := data[i]; '0' <= c && c <= '9' {
			end := i
			for end < len(data) && (isWordByte(data[end]) || bytes.IndexByte([]byte("+-."), data[end]) >= 0) {
				end++
			}
			out.WriteString(s.number(key, string(data[i:end])))
			i = end
			continue
		}
		if c := data[i]; c != '"' {
			option = option && bytes.IndexByte([]byte(", \t\r\n"), c) >= 0
			out.WriteByte(c)
			i++
			continue
		}
		end := stringEnd(data, i)
		literal := data[i:end]
		i = end
		var value string
		if json.Unmarshal(literal, &value) != nil {
			out.WriteString(s.plain(string(literal)))
			continue
		}
		isKey := bytes.HasPrefix(bytes.TrimLeft(data[end:], " \t\r\n"), []byte(":"))
		var clean string
		switch {
		case isKey:
			key = value
			clean = s.text(value)
		case key == "session_id", key == "sessionId":
			clean = s.uuidOf(sessionKind, value)
		case key == "prompt_id", key == "promptId":
			clean = s.uuidOf(promptKind, value)
		case strings.Contains(value, secretPrefix):
			clean = s.text(value)
		case option && secret.OptionValue(value), secret.Named(key, value):
			clean = s.secret("secret", value)
		default:
			clean = s.text(value)
		}
		option = !isKey && secret.Option(value)
		if clean == value {
			out.Write(literal)
			continue
		}
		encoded, err := encodeLine(clean)
		if err != nil { // a string always encodes
			encoded = []byte(`""`)
		}
		out.Write(bytes.TrimSuffix(encoded, []byte("\n")))
	}
	return out.Bytes()
}

// number replaces a number that is a secret, or was one elsewhere, by a string.
func (s *sanitiser) number(key, digits string) string {
	if standIn, known := s.known[digits]; known {
		return strconv.Quote(standIn)
	}
	if strings.Trim(digits, "0123456789") == "" && secret.Named(key, digits) && isSecretNumber(key, digits) {
		return strconv.Quote(s.secret("secret", digits))
	}
	return digits
}

// stringEnd is the index after the closing quote of the string that begins at i.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}
