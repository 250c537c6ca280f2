//go:build unix && !docker

package integration

// With -tags docker there is a server in a container, too.
var dockerKinds []replKind
