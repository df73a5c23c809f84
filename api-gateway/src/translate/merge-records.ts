import { screenshotIdOf } from '@tintype/crds/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ListQuery } from './list-query.ts'

const idOf = ({ metadata }: Screenshot): string => screenshotIdOf(metadata)

/**
 * Live and archived records, both in the same order, as one sequence, each once; a live one is the fresher of two.
 * `live` must have been read whole before anything of `archived` is: a record is written to the archive before it leaves the Kubernetes API,
 * so in this order it is seen at least once wherever it is on its way.
 */
export async function* mergeRecords(
  live: readonly Screenshot[],
  archived: AsyncIterable<Screenshot>,
  order: ListQuery['order'],
): AsyncGenerator<Screenshot> {
  const isBefore = (id: string, other: string) => (order === 'asc' ? id > other : id < other)
  let at = 0
  for await (const next of archived) {
    const id = idOf(next)
    while (at < live.length && isBefore(idOf(live[at]!), id)) yield live[at++]!
    if (at < live.length && idOf(live[at]!) === id) yield live[at++]!
    else yield next
  }
  while (at < live.length) yield live[at++]!
}
