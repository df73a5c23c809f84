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

interface CursorPage<T> {
  data: T[]
  pagination: { has_more: boolean; next_cursor: string | null }
}

/** A list whose pages have a cursor. `offset` is where the first page begins. */
export function listByCursor<T>(
  transport: Transport,
  path: string,
  { signal, offset, ...filters }: CallOptions & { offset?: number | undefined },
): List<T> {
  const read = async (start: { offset?: number | undefined; cursor?: string }): Promise<Page<T>> => {
    const { data, pagination } = (await transport.call<CursorPage<T>>({ method: 'GET', path, query: { ...filters, ...start }, signal }))
      .body
    const cursor = pagination.has_more ? pagination.next_cursor : null
    return { data, next: cursor === null ? undefined : () => read({ cursor }) }
  }
  return new List(() => read({ offset }))
}
