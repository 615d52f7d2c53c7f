package room_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skein-dev/skein/internal/room"
)

const mb = 1 << 20

func TestARoomHoldsNoMoreThanItsBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := room.New(4 * mb)
		a, b := r.Share(), r.Share()
		if err := a.Try(3 * mb); err != nil {
			t.Fatalf("Try(3 MB) in a room of 4: %v", err)
		}
		if err := b.Try(mb / 8); err != nil {
			t.Errorf("Try of a little beside it: %v", err)
		}
		if err := b.Try(2 * mb); !errors.Is(err, room.ErrFull) {
			t.Errorf("Try(2 MB) with 3 of 4 held: %v, want ErrFull", err)
		}
		began := time.Now()
		if err := b.Again(t.Context(), 0); !errors.Is(err, room.ErrFull) || time.Since(began) < time.Second {
			t.Errorf("Again where nothing is let go: %v after %v, want ErrFull after a while", err, time.Since(began))
		}
		if err := b.Try(2 * mb); !errors.Is(err, room.ErrFull) {
			t.Errorf("Try(2 MB) once more: %v, want ErrFull", err)
		}
		waited := make(chan error)
		go func() { waited <- b.Again(t.Context(), 0) }()
		synctest.Wait()
		a.LetGo()
		if err := <-waited; err != nil {
			t.Errorf("Again after all was let go: %v", err)
		}
		if err := a.Try(3 * mb); !errors.Is(err, room.ErrFull) {
			t.Errorf("Try(3 MB) where another one waited for room: %v, want ErrFull", err)
		}
		if err := b.Try(2 * mb); err != nil || b.Used() != 2*mb {
			t.Errorf("Try(2 MB) after Again: %v, used %d, want 2 MB", err, b.Used())
		}
		b.Give(2 * mb)
		if r.Held() != 0 {
			t.Errorf("%d bytes are held in the end, want 0", r.Held())
		}
	})
}

// If the first of two fitted, it is counted once while the second waits for room.
func TestWhoTriesAgainWaitsForNoMoreThanItNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := room.New(8 * mb)
		a, b := r.Share(), r.Share()
		if err := errors.Join(a.Try(4*mb), b.Try(2*mb)); err != nil {
			t.Fatal(err)
		}
		if err := b.Try(3 * mb); !errors.Is(err, room.ErrFull) {
			t.Fatalf("Try(3 MB) with 6 of 8 held: %v, want ErrFull", err)
		}
		waited := make(chan error)
		go func() { waited <- b.Again(t.Context(), 0) }()
		synctest.Wait()
		a.Give(mb)
		if err := <-waited; err != nil {
			t.Errorf("Again where both fit: %v", err)
		}
		if err := errors.Join(b.Try(2*mb), b.Try(3*mb)); err != nil {
			t.Errorf("Try of both after Again: %v", err)
		}
	})
}

// Each holds something and needs more, and the room has too little for two of them.
func TestSharesThatGrowTogetherAllGetWhatTheyWereExpectedToHold(t *testing.T) {
	for _, expected := range []int64{3 * mb, 1 << 40} {
		synctest.Test(t, func(t *testing.T) {
			r := room.New(4 * mb)
			began := time.Now()
			over := make(chan error)
			for range 16 {
				go func() {
					s := r.Share()
					defer s.LetGo()
					s.Expect(expected)
					var err error
					for n := 0; n < 3*mb && err == nil; n += mb / 16 {
						runtime.Gosched()
						err = s.Take(t.Context(), mb/16)
					}
					if held := r.Held(); held > 4*mb {
						t.Errorf("%d bytes are held, want at most %d", held, 4*mb)
					}
					over <- err
				}()
			}
			for range 16 {
				if err := <-over; err != nil {
					t.Errorf("a share that was expected to hold %d: %v", expected, err)
				}
			}
			if took := time.Since(began); took != 0 || r.Held() != 0 {
				t.Errorf("it took %v, and %d bytes are held in the end; want 0 and 0", took, r.Held())
			}
		})
	}
}

func TestNobodyGivesUpWhileOthersComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := room.New(4 * mb)
		a, b := r.Share(), r.Share()
		if err := a.Try(4 * mb); err != nil {
			t.Fatal(err)
		}
		waited := make(chan error, 1)
		go func() { waited <- b.Take(t.Context(), 4*mb) }()
		for range 10 {
			<-time.After(40 * time.Second)
			a.Give(mb / 4)
		}
		synctest.Wait()
		select {
		case err := <-waited:
			t.Fatalf("Take while another share gives back a little now and then: %v, want it to wait", err)
		default:
		}
		a.LetGo()
		if err := <-waited; err != nil {
			t.Errorf("Take after all was given back: %v", err)
		}
	})
}

// Readers that take nothing hold their room for long, one after the other.
func TestWhoHasALimitGivesUpAlthoughOthersComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := room.New(4 * mb)
		a, b := r.Share(), r.Share()
		if err := a.Try(4 * mb); err != nil {
			t.Fatal(err)
		}
		b.Limit(10 * time.Second)
		var others sync.WaitGroup
		others.Go(func() {
			for a.Used() > mb {
				<-time.After(time.Second)
				a.Give(mb / 8)
			}
		})
		began := time.Now()
		if err := b.Take(t.Context(), 4*mb); !errors.Is(err, room.ErrFull) || time.Since(began) != 10*time.Second {
			t.Errorf("Take = %v after %v, want %v after 10 s", err, time.Since(began), room.ErrFull)
		}
		others.Wait()
	})
}

// Others come all the time, each with little, so that the room is never empty.
func TestWhoNeedsMuchIsNotOvertakenForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := room.New(4 * mb)
		a, large, late := r.Share(), r.Share(), r.Share()
		if err := a.Try(2 * mb); err != nil {
			t.Fatal(err)
		}
		waited := make(chan error, 1)
		go func() { waited <- large.Take(t.Context(), 5*mb) }()
		synctest.Wait()
		if err := late.Try(mb); !errors.Is(err, room.ErrFull) {
			t.Errorf("Try(1 MB) behind one that waits for 5: %v, want ErrFull", err)
		}
		a.LetGo()
		if err := <-waited; err != nil {
			t.Errorf("Take(5 MB) in an empty room of 4: %v", err)
		}
	})
}

func TestOneAloneMayHoldMoreThanTheRoom(t *testing.T) {
	r := room.New(mb)
	a, b := r.Share(), r.Share()
	if err := errors.Join(a.Try(8*mb), a.Try(8*mb)); err != nil {
		t.Errorf("Try(8 MB) twice, alone in a room of 1: %v", err)
	}
	if err := b.Try(mb); !errors.Is(err, room.ErrFull) {
		t.Errorf("Try beside it: %v, want ErrFull", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Take(ctx, mb); !errors.Is(err, context.Canceled) {
		t.Errorf("Take for who has gone: %v, want canceled", err)
	}
	a.LetGo()
	if err := b.Take(t.Context(), mb); err != nil {
		t.Errorf("Take after it: %v", err)
	}
}

func TestNoShareHasNoEnd(t *testing.T) {
	s := room.Of(t.Context())
	if err := errors.Join(s.Try(1<<40), s.Take(t.Context(), 1<<40)); err != nil || s.Used() != 0 {
		t.Errorf("of a context without a share: %v, used %d", err, s.Used())
	}
	s.Give(1)
	s.LetGo()
}

func TestWhatIsKeptIsHeld(t *testing.T) {
	r := room.New(mb)
	s := r.Share()
	ctx := room.With(t.Context(), s)
	all := func(yield func(int, error) bool) {
		for n := range 4 {
			if !yield(n, nil) {
				return
			}
		}
	}
	for n, err := range room.Kept(ctx, all, func(int) int { return mb }) {
		if want := int64(n+1) * mb; err != nil || s.Used() != want {
			t.Errorf("number %d: %v, used %d, want %d", n, err, s.Used(), want)
		}
	}
}
