package gauntlet

import (
	"fmt"
	"os"
	"time"

	"github.com/hookkit/brepl/hookkit/secret"
	"github.com/hookkit/brepl/hookkit/text"
)

// debugName is the debug log in log_dir, with debug_log.enabled. When it has grown over its size it begins anew; the old one stays beside it.
const debugName = "debug.log"

// debugNote adds a line to the debug log. What cannot be written is not worth an error.
func debugNote(c *Config, note string) {
	dir := stateDir(c.LogDir)
	if !c.Debug.Enabled || dir.make() != nil {
		return
	}
	path := dir.path(debugName)
	if info, err := os.Stat(path); err == nil && info.Size() > c.Debug.MaxSize/2 {
		_ = os.Rename(path, path+".old")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(f, "%s pid=%d %s\n", time.Now().Format(time.RFC3339Nano), os.Getpid(), text.Brief(secret.Mask(note)))
	_ = f.Close()
}
