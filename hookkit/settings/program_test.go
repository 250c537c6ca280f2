package settings

import (
	"testing"

	"gotest.tools/v3/assert"
)

// What uninstall must remember is kept in one place for all programs.
func TestStateDir(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ home, profile, state, want string }{
		{home: "/h", want: "/h/.local/state/brepl"},
		{home: "/h", state: "/s", want: "/s/brepl"},
		{home: "/h", state: "relative", want: "/h/.local/state/brepl"},
		{profile: "/u", want: "/u/.local/state/brepl"},
		{home: "relative", want: ""},
		{want: ""},
	} {
		vars := map[string]string{"HOME": row.home, "USERPROFILE": row.profile, "XDG_STATE_HOME": row.state}
		assert.Equal(t, StateDir("brepl", func(name string) string { return vars[name] }), row.want, "%+v", row)
	}
}
