package postgres

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/skein-dev/skein"
)

// maxConns is how many connections a store has at most where its address does
// not say.
const maxConns = 16

func parse(dsn string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		// The error has the address in it, without the password.
		return nil, fmt.Errorf("postgres: %w address: %w", skein.ErrInvalid, err)
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		cfg.MaxConns = maxConns
	}
	if cfg.ConnConfig.RuntimeParams["application_name"] == "" {
		cfg.ConnConfig.RuntimeParams["application_name"] = "skein"
	}
	return cfg, nil
}

// address says where a database is, for people, without the password.
func address(c *pgx.ConnConfig) string {
	return fmt.Sprintf("postgres://%s:%d/%s", c.Host, c.Port, c.Database)
}
