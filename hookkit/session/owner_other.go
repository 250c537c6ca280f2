//go:build !unix

package session

import (
	"io/fs"
)

// Here the folder for temporary files belongs to one user (on Windows it is in
// the user's profile), and files have no owner that a mode speaks of: owners and
// modes are not checked.

// tempVars name the system's folder for temporary files.
var tempVars = []string{"TMPDIR", "TEMP", "TMP"}

const safeOpen = 0

func privateName() string { return "brepl-user" }

func owner(fs.FileInfo) (uid, gid int) { return -1, -1 }

func ownedByUs(fs.FileInfo) bool { return true }

func believed(fs.FileInfo) bool { return true }

func ownerText(fs.FileInfo) string { return "" }

func exposed(fs.FileInfo) bool { return false }

func isLinkError(error) bool { return false }

func processGone(int) bool { return false }
