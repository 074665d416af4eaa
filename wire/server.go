package wire

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/tidemarkdb/tidemark/sql/session"
)

// Auth is how clients prove who they are.
type Auth uint8

// The ways of authentication.
const (
	Trust Auth = iota // any user name is believed
	SCRAM             // SCRAM-SHA-256 with the secrets of Options.Users
)

// Options configure a Server. The zero value trusts every client and does not encrypt.
type Options struct {
	// Version is Tidemark's own version, shown behind PostgreSQL's in server_version.
	Version string
	Auth    Auth
	// Users maps a user name to its password, or to a verifier as PostgreSQL stores it
	// ("SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey"). Used with SCRAM only.
	Users map[string]string
	// TLS, when set, is used for clients that ask for encryption.
	TLS *tls.Config
	// RequireTLS refuses clients that did not ask for encryption.
	RequireTLS bool
	// MaxConnections limits clients (53300 beyond it); 0 means 100.
	MaxConnections int
	// MaxMessageBytes limits a message, and a row of COPY; 0 means 256 MB.
	MaxMessageBytes int
	// StartupTimeout limits the time from connecting to being authenticated; 0 means 60 s.
	StartupTimeout time.Duration
}

func (o Options) withDefaults() Options {
	if o.MaxConnections <= 0 {
		o.MaxConnections = 100
	}
	if o.MaxMessageBytes <= 0 {
		o.MaxMessageBytes = 256 << 20
	}
	if o.StartupTimeout <= 0 {
		o.StartupTimeout = 60 * time.Second
	}
	return o
}

// spareSockets is how many connections beyond the limit are let in far enough to
// be told that there are too many, or to send a cancel request.
const spareSockets = 64

// livenessInterval is how often connections with a running statement are looked at for a client that has gone.
const livenessInterval = 2 * time.Second

// Server serves PostgreSQL clients. All methods may be called from any goroutine.
type Server struct {
	engine  session.Engine
	opts    Options
	log     zerolog.Logger
	secrets *secretStore
	invalid error // of the options; Serve reports it

	draining atomic.Bool
	wg       sync.WaitGroup

	mu        sync.Mutex
	listeners map[net.Listener]struct{}
	sockets   map[*conn]struct{} // every open connection
	backends  map[uint32]*conn   // those with a session, by backend id
	nextPID   uint32
}

// New makes a server over engine. Where a verifier of Options.Users is malformed, Serve says so.
func New(engine session.Engine, opts Options, log zerolog.Logger) *Server {
	secrets, err := newSecretStore(opts.Users)
	return &Server{
		engine: engine, opts: opts.withDefaults(), log: log, secrets: secrets, invalid: err,
		listeners: map[net.Listener]struct{}{}, sockets: map[*conn]struct{}{}, backends: map[uint32]*conn{},
	}
}

// Serve accepts connections until the listener fails or Shutdown is called, which makes it return nil. It may be called
// for several listeners. It closes ln.
func (s *Server) Serve(ln net.Listener) error {
	if s.invalid != nil {
		_ = ln.Close() // nothing was served on it
		return s.invalid
	}
	s.mu.Lock()
	if s.draining.Load() {
		s.mu.Unlock()
		_ = ln.Close() // nothing was served on it
		return nil
	}
	s.listeners[ln] = struct{}{}
	s.mu.Unlock()
	defer func() {
		_ = ln.Close() // a second close after Shutdown reports an error of no interest
		s.mu.Lock()
		delete(s.listeners, ln)
		s.mu.Unlock()
	}()
	stop := make(chan struct{})
	defer close(stop)
	go s.watch(stop)
	for {
		nc, err := ln.Accept()
		if err != nil {
			if s.draining.Load() {
				return nil
			}
			var ne net.Error
			if errors.As(err, &ne) && ne.Timeout() || isResourceError(err) {
				s.log.Warn().Err(err).Msg("accept failed, trying again")
				time.Sleep(50 * time.Millisecond)
				continue
			}
			return fmt.Errorf("accept: %w", err)
		}
		s.start(nc)
	}
}

// start runs a connection on its own goroutine.
func (s *Server) start(nc net.Conn) {
	c := newConn(s, nc)
	s.mu.Lock()
	if s.draining.Load() || len(s.sockets) >= s.opts.MaxConnections+spareSockets {
		s.mu.Unlock()
		_ = nc.Close() // refused without a word: an answer could block
		return
	}
	s.sockets[c] = struct{}{}
	s.wg.Add(1)
	s.mu.Unlock()
	go func() {
		defer s.wg.Done()
		c.serve()
		s.mu.Lock()
		delete(s.sockets, c)
		if s.backends[c.pid] == c {
			delete(s.backends, c.pid)
		}
		s.mu.Unlock()
	}()
}

// register gives a connection its backend id and secret; false means that there are too many.
func (s *Server) register(c *conn) bool {
	var secret [4]byte
	if _, err := rand.Read(secret[:]); err != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.backends) >= s.opts.MaxConnections {
		return false
	}
	for {
		s.nextPID++
		if _, used := s.backends[s.nextPID]; !used && int32(s.nextPID) > 0 {
			break
		}
	}
	c.pid, c.secret = s.nextPID, binary.BigEndian.Uint32(secret[:])
	s.backends[c.pid] = c
	return true
}

// cancel interrupts the running statement of a backend, if the secret is right. As in PostgreSQL there is no answer.
func (s *Server) cancel(pid, secret uint32) {
	s.mu.Lock()
	c := s.backends[pid]
	s.mu.Unlock()
	if c != nil && c.secret == secret {
		c.cancelRunning(errUserCancel)
	}
}

// watch cancels the statements of clients that have gone: nothing else would end a statement that waits.
func (s *Server) watch(stop <-chan struct{}) {
	tick := time.NewTicker(livenessInterval)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		s.mu.Lock()
		var busy []*conn
		for _, c := range s.backends {
			if c.isRunning() {
				busy = append(busy, c)
			}
		}
		s.mu.Unlock()
		for _, c := range busy {
			if peerClosed(c.raw) {
				c.cancelRunning(errClientGone)
			}
		}
	}
}

// Shutdown stops accepting, tells idle clients 57P01 and closes them, lets running statements finish until ctx ends and
// cancels them then. It returns when all connections are closed: nil, or ctx's error if statements had to be cancelled.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.draining.Store(true)
	for ln := range s.listeners {
		_ = ln.Close() // Serve reports what matters
	}
	conns := make([]*conn, 0, len(s.sockets))
	for c := range s.sockets {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	for _, c := range conns {
		c.wakeIdle()
	}
	ended := make(chan struct{})
	go func() { s.wg.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	for _, c := range conns {
		c.cancelRunning(errShutdown)
		// A statement may be blocked on a client that does not read or send: a moment for the error, then the socket goes.
		_ = c.raw.SetDeadline(time.Now().Add(time.Second))
	}
	<-ended
	return ctx.Err()
}
