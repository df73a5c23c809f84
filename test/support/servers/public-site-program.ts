// Serves the pages of test/sites on a public address over http and https. Started by cluster/program.ts.

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createPages } from '../../sites/src/server.ts'
import { takeAddresses } from './own-addresses.ts'

/** Its addresses and the files of its certificate. */
export interface PublicSite {
  address: string
  certificate: string
  key: string
}

const { address, certificate, key } = JSON.parse(process.argv[2] ?? '') as PublicSite
takeAddresses([address])
const pages = createPages()
const servers = [
  createServer(pages).listen(80, address),
  createSecureServer({ cert: readFileSync(certificate), key: readFileSync(key) }, pages).listen(443, address),
]
await Promise.all(servers.map((server) => once(server, 'listening')))
process.send?.('ready')
