//go:build race

package clj

// slowdown is how many times longer the race detector makes a loop over memory take, at most; bounds of time are for what ships.
const slowdown = 10
