//go:build !race

package clj

const slowdown = 1
