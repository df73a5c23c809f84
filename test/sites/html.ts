import type { ServerResponse } from 'node:http'

/** Answers with a page; `body` may begin with its own head elements. */
export function html(response: ServerResponse, body: string, status = 200, headers: Record<string, string> = {}): void {
  const text = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width">${body}`
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', ...headers }).end(text)
}
