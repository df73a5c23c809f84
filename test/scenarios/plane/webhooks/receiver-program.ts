// A fast endpoint in a separate process: TLS, keep-alive connections, immediate responses. Posts to /hang never get a response. Arguments:
// the files of certificate and key. It prints its port. For each message it returns the arrivals since the previous one: [path, screenshot,
// epoch milliseconds].

import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** Path, Screenshot, and time (epoch milliseconds with fractions). */
export type Arrival = [path: string, screenshot: string, at: number]

const [certificate = '', key = ''] = process.argv.slice(2)
let arrivals: Arrival[] = []
let connections = 0

const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, async (request, response) => {
  const at = performance.timeOrigin + performance.now()
  const path = request.url ?? ''
  const body = await buffer(request)
  arrivals.push([path, /"id":"(scr_[0-9a-z]+)"/.exec(body.toString())?.[1] ?? '', at])
  if (path !== '/hang') response.writeHead(200).end()
})
server.on('secureConnection', () => connections++)
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('message', () => {
  process.send?.({ arrivals, connections })
  arrivals = []
})
process.on('disconnect', () => process.exit())
