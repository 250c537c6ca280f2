package lab

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
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
	secretKey := regexp.MustCompile(`(?i)^[a-z0-9_. -]{0,40}` + secretNames + `[a-z0-9_. -]{0,40}$`)
	key := ""
	for i := 0; i < len(data); {
		if data[i] != '"' {
			out.WriteByte(data[i])
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
		case secretKey.MatchString(key) && isSecretValue(value):
			clean = s.secret("secret", value)
		case key == "session_id", key == "sessionId":
			clean = s.uuidOf(sessionKind, value)
		case key == "prompt_id", key == "promptId":
			clean = s.uuidOf(promptKind, value)
		default:
			clean = s.text(value)
		}
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
