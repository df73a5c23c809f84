import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'

/** Response to one query. `undefined`: NXDOMAIN; `'silence'`: no response; `'failure'`: SERVFAIL. */
export type DnsResponse = { cname?: string; addresses: string[] } | 'silence' | 'failure' | undefined

export type QueryType = 'A' | 'AAAA'

/** Called for each query, so responses can change. The server leaves out addresses of the other family. */
export type Zone = (name: string, type: QueryType | undefined) => DnsResponse

const TYPES: Record<number, QueryType> = { 1: 'A', 28: 'AAAA' }
const TTL_SECONDS = 0

const encodeName = (name: string): Buffer =>
  Buffer.concat([...name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]), Buffer.from([0])])

/** The question of a query, and its end in the packet. */
const readQuestion = (packet: Buffer) => {
  const labels: string[] = []
  let at = 12
  for (; packet[at] !== 0; at += 1 + (packet[at] as number)) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + (packet[at] as number)))
  }
  // Type and class follow the name, with two bytes each.
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 }
}

const encodeAddress = (address: string): Buffer => {
  if (net.isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  // The URL parser writes an address in groups without an embedded IPv4 part.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
  const missing = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length
  const all = [...groups(head), ...Array<string>(missing).fill('0'), ...groups(tail ?? '')]
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex')
}

const record = (name: string, type: number, data: Buffer): Buffer => {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt32BE(TTL_SECONDS, 4)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([encodeName(name), fixed, data])
}

const buildRecords = (name: string, type: number, answer: Exclude<DnsResponse, string | undefined>): Buffer[] => {
  const owner = answer.cname ?? name
  const wanted = answer.addresses.filter((address) => (TYPES[type] === 'A' ? net.isIPv4(address) : net.isIPv6(address)))
  const alias = answer.cname === undefined ? [] : [record(name, 5, encodeName(answer.cname))]
  return [...alias, ...wanted.map((address) => record(owner, type, encodeAddress(address)))]
}

const buildResponse = (
  query: Buffer,
  { name, type, end }: ReturnType<typeof readQuestion>,
  answer: Exclude<DnsResponse, 'silence'>,
): Buffer => {
  const records = typeof answer === 'object' && TYPES[type] ? buildRecords(name, type, answer) : []
  const header = Buffer.from(query.subarray(0, 12))
  header.writeUInt16BE(0x8180 | (answer === undefined ? 3 : answer === 'failure' ? 2 : 0), 2)
  header.writeUInt16BE(records.length, 6)
  header.writeUInt32BE(0, 8)
  return Buffer.concat([header, query.subarray(12, end), ...records])
}

/**
 * Alternates between two IPv4 addresses, one per lookup. Lookups of a page overlap, and each sends A and AAAA queries, so only A queries
 * are counted.
 */
export const inTurns = (first: string, second: string): ((type: QueryType | undefined) => string) => {
  let lookups = 0
  return (type) => (type === 'A' && lookups++ % 2 === 1 ? second : first)
}

/** Starts a minimal name server on a free port of 127.0.0.1: only UDP, A and AAAA. */
export const startDnsServer = async (zone: Zone) => {
  const socket = dgram.createSocket('udp4')
  /** Requested names in order, one for each A and AAAA query. */
  const queries: string[] = []
  socket.on('message', (query, from) => {
    const question = readQuestion(query)
    queries.push(question.name)
    const answer = zone(question.name, TYPES[question.type])
    if (answer !== 'silence') socket.send(buildResponse(query, question, answer), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return { address: `127.0.0.1:${socket.address().port}`, queries, close: () => socket.close() }
}
