// Verifies requests with the Go sample of docs/webhooks.md, which is the other file of this package. test/samples/run.ts describes input
// and output.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
)

type request struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    []byte            `json:"body"`
}

type verdict struct {
	IsGenuine bool `json:"isGenuine"`
	IsSigned  bool `json:"isSigned"`
}

func main() {
	var requests []request
	if err := json.NewDecoder(os.Stdin).Decode(&requests); err != nil {
		log.Fatal(err)
	}
	verdicts := make([]verdict, 0, len(requests))
	for _, asked := range requests {
		headers := http.Header{}
		for name, value := range asked.Headers {
			headers.Set(name, value)
		}
		verdicts = append(verdicts, verdict{IsGenuine(asked.Body, headers, asked.Secret), IsSigned(asked.Body, headers, asked.Secret)})
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		log.Fatal(err)
	}
}
