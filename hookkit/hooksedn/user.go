package hooksedn

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// userPath is where the user's own configuration is, below a folder of configurations.
const userPath = "brepl/config.edn"

// User is what the user's own configuration says. It is about all projects, and no project can say it.
type User struct {
	PauseOnly  string  // the file with `:pause :user-only`: only the user may pause; "" where none says so
	Unbelieved []error // files that others could have written: they say nothing
}

// LoadUser reads config.edn in ~/.config/brepl, and in $XDG_CONFIG_HOME/brepl. The second counts beside the first, never instead of it: a
// project can set the variable for the agent's shell, and must not take back with it what the user forbids. An error says that a file
// cannot be read, with all its faults at once.
func LoadUser(env func(string) string) (User, error) {
	var u User
	var faults []error
	dirs := []string{env("XDG_CONFIG_HOME")}
	if home := env("HOME"); home != "" {
		dirs = append(dirs, filepath.Join(home, ".config"))
	}
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, userPath)
		data, err := read(path, "what it says does not count")
		var distrust *distrustError
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case errors.As(err, &distrust):
			u.Unbelieved = append(u.Unbelieved, err)
		case err != nil:
			faults = append(faults, err)
		default:
			if err = u.parse(path, data); err != nil {
				faults = append(faults, err)
			}
		}
	}
	return u, errors.Join(faults...)
}

func (u *User) parse(path string, data []byte) error {
	p := &parser{config: &Config{}, src: data, file: path}
	if m := p.read("{:pause :user-only}"); m != nil {
		switch value := m.Get("pause"); {
		case value == nil:
			p.checkMissing(m, "pause", nil)
		case keyword(value) == "user-only":
			u.PauseOnly = path
		default:
			p.add(value, ":pause must be :user-only, found %s", describe(value))
		}
	}
	if len(p.errs) > 0 {
		return p.failure()
	}
	return nil
}
