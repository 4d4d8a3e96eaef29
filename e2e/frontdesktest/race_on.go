//go:build race

package frontdesktest

const raceEnabled = true
