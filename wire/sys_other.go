//go:build !unix

package wire

import "net"

// isResourceError is not known here: such an error ends Serve.
func isResourceError(error) bool { return false }

// peerClosed is not known here: a statement of a client that has gone ends when something is written to it.
func peerClosed(net.Conn) bool { return false }
