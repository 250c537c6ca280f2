package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/hookkit/brepl/hookkit/session"
)

// template is .brepl/hooks.edn as it is created for a project that has none:
// no hook is active, and every field is explained.
const template = `;; brepl stop hooks configuration

{:stop
 [;; Example: Run the project's tests via nREPL after Claude stops
  ;; {:type :tests
  ;;  :name "tests"
  ;;  :retry-on-failure? true  ; Claude keeps trying until tests pass
  ;;  :max-retries 10          ; Give up after 10 attempts (0 = infinite)
  ;;  :required? true          ; Inform user if no nREPL connection
  ;;  :timeout 120}

  ;; Example: Run linter via bash
  ;; {:type :bash
  ;;  :name "lint"
  ;;  :command "clj-kondo --lint src"
  ;;  :retry-on-failure? false  ; Report failure but don't retry
  ;;  :timeout 30
  ;;  :cwd "."
  ;;  :env {"CI" "true"}}
  ]}

;; Hook fields:
;;   :type             - :tests, :repl or :bash (required)
;;   :name             - identifier for error messages (required)
;;   :retry-on-failure? - if true and fails, Claude retries (default: false)
;;   :max-retries       - max retry attempts, 0 = infinite (default: 10)
;;   :required?         - if true and can't run, inform user (default: false)
;;   :timeout           - seconds before timeout (default: 60)
;;
;; Tests-specific (all optional; brepl finds the test namespaces on disk):
;;   :namespaces       - regex that namespaces must match, e.g. "shop.*-test"
;;   :paths, :exclude  - glob patterns of test files, e.g. ["test/**"]
;;   :focus, :skip     - keywords in the metadata of tests, e.g. [:integration]
;;   :changed-only?    - only what changes since the last pass reach (default: false)
;;   :namespace-timeout - seconds for one namespace (default: half of :timeout)
;;
;; REPL-specific:
;;   :code             - Clojure code to evaluate (required for :repl)
;;
;; Bash-specific:
;;   :command          - shell command to run (required for :bash)
;;   :cwd              - working directory (default: ".")
;;   :env              - environment variables map (default: {})
`

func templatePath(root string) string { return filepath.Join(root, ".brepl", "hooks.edn") }

// findTemplate reports hooks.edn where there is one.
func (r *Report) findTemplate() {
	path := templatePath(r.Root)
	if !r.DryRun {
		session.RemoveStrays(path)
	}
	if _, err := os.Lstat(path); err == nil {
		r.Template = &Template{Path: path, Status: Present}
	}
}

// writeTemplate creates hooks.edn. Whatever has that name already is left alone.
func (r *Report) writeTemplate(dryRun bool) (err error) {
	path := templatePath(r.Root)
	r.Template = &Template{Path: path, Status: Present}
	defer func() {
		if err != nil {
			r.Template.Status = Failed
		}
	}()
	if !dryRun {
		session.RemoveStrays(path)
	}
	_, err = os.Lstat(path)
	if err == nil {
		if link, _ := os.Readlink(path); link != "" && missing(path) {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s is a symbolic link to %s, which is not there: no stop hooks run", path, link))
		}
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot look at %s: %w", path, err)
	}
	if dryRun {
		r.Template.Status = Created
		r.Diff += string(diff.Diff("/dev/null", nil, path, []byte(template)))
		return nil
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a project's folder, read by all who work on it
		return fmt.Errorf("cannot create %s: %w", path, err)
	}
	err = session.WriteFile(path, []byte(template), session.WriteOptions{Mode: 0o644, Sync: true, Absent: true})
	if errors.Is(err, session.ErrChanged) {
		return nil // somebody made one right now
	}
	if err == nil {
		r.Template.Status = Created
	}
	return err
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
