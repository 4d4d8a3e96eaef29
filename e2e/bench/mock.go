package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/labstack/echo/v4"
)

// measureMock asks the simulator of the club system for a page of its products.
func measureMock(ctx context.Context, h *harness) ([]row, error) {
	at, err := address()
	if err != nil {
		return nil, err
	}
	sim, err := h.serve("sandbox card processor at", nil, h.binary, "sim", "--addr", at)
	if err != nil {
		return nil, err
	}
	club, err := h.clubSystem("http://" + at)
	if err != nil {
		return nil, err
	}
	_, page, err := fetch(ctx, club.url+"/products", club.header)
	if err != nil {
		return nil, err
	}
	_, bare, err := h.referenceTo("echo-encode", page)
	if err != nil {
		return nil, err
	}
	all, err := interleave(perSecond(ctx, load{url: club.url + "/products", header: club.header}), perSecond(ctx, load{url: bare + "/"}))
	if err != nil {
		return nil, err
	}
	held, err := memory(sim)
	if err != nil {
		return nil, err
	}
	return []row{{
		fmt.Sprintf("Simulator, a page of products, %d bytes", len(page)), fmt.Sprintf("%.0f/s; %d MB then", all[0].median(), held>>20),
		fmt.Sprintf("bare Echo that encodes the same: %.0f/s", all[1].median()), all[0].ratioTo(all[1]), threshold{atLeast: 0.9},
	}}, nil
}

// perSecond is a contender by how often it answers.
func perSecond(ctx context.Context, h load) func() (float64, error) {
	return func() (float64, error) {
		found, err := h.run(ctx)
		return found.perSecond, err
	}
}

// productPage is a page of products as the club system sends it.
type productPage struct {
	Context string            `json:"@context"`
	ID      string            `json:"@id"`
	Type    string            `json:"@type"`
	Member  []product         `json:"hydra:member"`
	Total   int               `json:"hydra:totalItems"`
	View    map[string]string `json:"hydra:view"`
}

type product struct {
	IRI         string            `json:"@id"`
	Type        string            `json:"@type"`
	ID          int               `json:"id"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Kind        string            `json:"type"`
	Behaviors   []productBehavior `json:"productBehaviors"`
}

type productBehavior struct {
	Type          string `json:"@type"`
	Kind          string `json:"type"`
	Configuration struct {
		ValidityPeriod string `json:"validityPeriod,omitempty"`
		Quantity       int    `json:"quantity,omitempty"`
	} `json:"configuration"`
}

// bareEncoder encodes the products of a file anew for each request, at /.
func bareEncoder(path string) (http.Handler, error) {
	body, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var page productPage
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, err
	}
	e := echo.New()
	e.GET("/", func(c echo.Context) error { return c.JSON(http.StatusOK, page) })
	return e, nil
}
