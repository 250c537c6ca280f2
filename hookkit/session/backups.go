package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// What is in a folder of backups: files with numbers for names, and the manifest that says what each of them was.
const (
	BackupSuffix   = ".bak"
	BackupManifest = "manifest.edn"
)

// BackupDir returns a session's folder in BREPL_HOOK_BACKUP_DIR, where the user wants the backups; "" where that is not set, and they
// are in the private folder. Nothing is looked at. The error is a path that is not absolute.
func BackupDir(env func(string) string, id string) (string, error) {
	own := env("BREPL_HOOK_BACKUP_DIR")
	if own == "" {
		return "", nil
	}
	if !filepath.IsAbs(own) {
		return "", fmt.Errorf("BREPL_HOOK_BACKUP_DIR=%q: give an absolute path, or unset it", own)
	}
	return filepath.Join(own, SafeName(id)), nil
}

// RemoveBackups deletes a session's backups in BREPL_HOOK_BACKUP_DIR; [Session.Remove] deletes those in the private folder. The folder's
// name comes from outside, so only a folder with a manifest counts, only files of backups are deleted in it, and the folder goes only
// when nothing else is in it.
func RemoveBackups(env func(string) string, id string) error {
	dir, err := BackupDir(env, id)
	if err != nil || dir == "" {
		return err
	}
	manifest := filepath.Join(dir, BackupManifest)
	if info, statErr := os.Lstat(manifest); statErr != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // no folder of ours
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, one := range entries {
		number, isBackup := strings.CutSuffix(one.Name(), BackupSuffix)
		if isBackup && strings.Trim(number, "0123456789") == "" && one.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(dir, one.Name())))
		}
	}
	if err == nil {
		err = os.Remove(manifest)
	}
	_ = os.Remove(dir) // it stays when the user has put something there
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process was faster
	}
	return err
}
