// A webhook endpoint that floods its clients, in its own process, so that the client's event loop is measured alone. Arguments: the files of
// certificate and key. It sends its port. For each message it returns the requests and the connections so far.

import type { AddressInfo } from 'node:net'
import { createFloodingServer } from './flooding-server.ts'

const [certificate = '', key = ''] = process.argv.slice(2)
const { server, seen } = createFloodingServer({ certificate, key })

server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))
process.on('message', () => process.send?.(seen))
process.on('disconnect', () => process.exit())
