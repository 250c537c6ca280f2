package fakes

// T is the part of *testing.T that the fakes use. A program that is no test
// can pass its own: Fatalf must not return, and Cleanup functions run last
// first.
type T interface {
	// Helper marks the caller as a helper in failure messages.
	Helper()
	// Errorf reports a failure and goes on. It is called from the fakes' own
	// goroutines too, but never after the Cleanup functions have run.
	Errorf(format string, args ...any)
	// Fatalf reports a failure and ends the test. It is called only from the
	// goroutine that called the fake.
	Fatalf(format string, args ...any)
	// Cleanup registers a function to run when the test ends.
	Cleanup(f func())
	// TempDir returns a fresh folder that is removed when the test ends.
	TempDir() string
}
