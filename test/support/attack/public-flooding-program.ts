// A webhook endpoint on a public address that floods its clients. Started by cluster/program.ts.

import { once } from 'node:events'
import { takeAddresses } from '../servers/own-addresses.ts'
import type { PublicSite } from '../servers/public-site-program.ts'
import { createFloodingServer } from './flooding-server.ts'

const { address, certificate, key } = JSON.parse(process.argv[2] ?? '') as PublicSite
takeAddresses([address])
const { server } = createFloodingServer({ certificate, key })
await once(server.listen(443, address), 'listening')
process.send?.('ready')
