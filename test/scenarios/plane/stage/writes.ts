import type { KubeHttp } from '../../../../crds/client/kube-http.ts'

/** Executed writes of an API server since its start, by resource. */
export type Writes = ReadonlyMap<string, number>

const LINE = /^apiserver_request_total\{(?<labels>.*)\} (?<count>\S+)$/
const WRITING = new Set(['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION'])

const labelOf = (labels: string, name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? ''

/** Parses the counts from the text of an API server's /metrics. */
export function parseWrites(text: string): Writes {
  const writes = new Map<string, number>()
  for (const line of text.split('\n')) {
    const { labels = '', count = '0' } = LINE.exec(line)?.groups ?? {}
    if (!WRITING.has(labelOf(labels, 'verb')) || !labelOf(labels, 'code').startsWith('2')) continue
    const resource = labelOf(labels, 'resource')
    writes.set(resource, (writes.get(resource) ?? 0) + Number(count))
  }
  return writes
}

/** Writes between two readings, by resource, without resources that were not written. */
export const writesBetween = (before: Writes, after: Writes): Writes =>
  new Map([...after].map(([resource, count]) => [resource, count - (before.get(resource) ?? 0)] as const).filter(([, count]) => count > 0))

/** Reads the counts of an API server. */
export async function readWrites(admin: KubeHttp): Promise<Writes> {
  const chunks: Buffer[] = []
  for await (const chunk of await admin.stream({ path: '/metrics' })) chunks.push(chunk)
  return parseWrites(Buffer.concat(chunks).toString())
}
