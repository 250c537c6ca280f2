package session

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strings"

	"github.com/hookkit/brepl/hookkit/project"
)

// maxName is the length in bytes up to which a name is kept readable. With what
// is put around it, it stays below the 255 bytes that file systems allow.
const maxName = 100

// SafeName makes one file name of a session id, whatever the id holds. Only
// [A-Za-z0-9._-] stay, every other byte becomes %XX; "." and ".." are encoded
// too, "" is "%empty", and a name that would be over 100 bytes is "%hash-" and
// the 128-bit FNV-1a hash of the id in hex. Different ids of up to 100 bytes,
// encoded, have different names. On a file system that ignores case, ids that
// differ only in case share a file.
func SafeName(id string) string {
	switch id {
	case "":
		return "%empty" // no encoded id: "em" is not hexadecimal
	case ".", "..":
		return strings.ReplaceAll(id, ".", "%2E")
	}
	var name strings.Builder
	for i := range len(id) {
		c := id[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
			name.WriteByte(c)
		default:
			fmt.Fprintf(&name, "%%%02X", c)
		}
		if name.Len() > maxName {
			hash := fnv.New128a()
			_, _ = hash.Write([]byte(id)) // a hash takes everything
			return fmt.Sprintf("%%hash-%x", hash.Sum(nil))
		}
	}
	return name.String()
}

// ProjectID is a session id for what belongs to a folder and to no session of an
// agent: a kind, such as "unknown", and a hash of the folder's path with symbolic
// links followed, since an agent and its user may come by different paths.
func ProjectID(kind, dir string) string {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(project.Physical(filepath.Clean(dir)))) // a hash takes everything
	return fmt.Sprintf("%s-%016x", kind, hash.Sum64())
}
