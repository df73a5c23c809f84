import { List, type Page } from '../common/list.ts'
import type { CallOptions, InactiveQuery } from '../common/types.ts'
import type { Transport } from '../http/transport.ts'

interface CountedPage<T> {
  data: T[]
  pagination: { has_more: boolean }
}

/** Lists of webhooks and API keys have no cursor. They are short, so that a change between two pages is rare. */
export function listByOffset<T>(transport: Transport, path: string, { signal, ...query }: InactiveQuery & CallOptions): List<T> {
  const read = async (offset: number): Promise<Page<T>> => {
    const { body } = await transport.call<CountedPage<T>>({ method: 'GET', path, query: { ...query, offset }, signal })
    const { data, pagination } = body
    return { data, next: pagination.has_more && data.length > 0 ? () => read(offset + data.length) : undefined }
  }
  return new List(() => read(query.offset ?? 0))
}
