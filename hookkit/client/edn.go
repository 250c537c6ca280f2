package client

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/hookkit/brepl/hookkit/clj"
	"github.com/hookkit/brepl/hookkit/nrepl"
)

// appendEDN appends what bencode holds as EDN, on one line: a dict as a map with strings for keys, sorted. Control characters are
// escaped.
func appendEDN(dst []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return append(dst, clj.QuoteString(v)...)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = appendEDN(dst, item)
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = append(appendEDN(dst, key), ' ')
			dst = appendEDN(dst, v[key])
		}
		return append(dst, '}')
	}
	return append(dst, "nil"...) // bencode has no other
}

// message gets the message of -m; nil where the call has none.
func (r *run) message() (nrepl.Message, error) {
	if len(r.messages) == 0 {
		return nil, nil
	}
	forms, problems := clj.ReadAll("-m", []byte(r.messages[0]), clj.Options{})
	if err := problems.Err(); err != nil {
		return nil, err
	}
	if len(forms) != 1 || forms[0].Kind != clj.Map {
		return nil, errors.New("-m: expected one map, such as {:op :describe}")
	}
	v, err := bencodable(forms[0])
	if err != nil {
		return nil, err
	}
	m := nrepl.Message(v.(map[string]any))
	if m.Text("op") == "" {
		return nil, errors.New(`-m: the message has no "op"`)
	}
	return m, nil
}

// bencodable turns EDN into what bencode has. Keywords and symbols become their names.
func bencodable(n *clj.Node) (any, error) {
	switch n.Kind {
	case clj.String, clj.Keyword, clj.Symbol:
		return n.Text, nil
	case clj.Integer:
		if v, ok := n.Int(); ok {
			return v, nil
		}
	case clj.Vector, clj.List:
		items := []any{}
		for _, child := range n.Children {
			item, err := bencodable(child)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		return items, nil
	case clj.Map:
		dict := map[string]any{}
		for k, v := range n.Pairs() {
			if k.Kind != clj.String && k.Kind != clj.Keyword && k.Kind != clj.Symbol {
				return nil, fmt.Errorf("-m:%d:%d: a key must be a string or a keyword, found %s", k.Start.Line, k.Start.Column, k.Kind)
			}
			item, err := bencodable(v)
			if err != nil {
				return nil, err
			}
			dict[k.Text] = item
		}
		return dict, nil
	default:
	}
	return nil, fmt.Errorf("-m:%d:%d: a message holds strings, integers, vectors and maps, found %s", n.Start.Line, n.Start.Column, n.Kind)
}
