import type { Screenshot, ScreenshotQuery } from '../../../client/src/index.ts'
import { type Flag, toFlagName } from '../arguments/flag.ts'
import { toPastTime } from '../arguments/times.ts'
import { UsageError } from '../common/errors.ts'
import { bothKinds, VIDEO_FORMATS } from '../common/kinds.ts'
import type { Command, Context } from './context.ts'
import { tableOf } from './records.ts'

const DEFAULT_LIMIT = 20
const MAX_PAGE = 500

const STATES = ['pending', 'completed', 'failed']

const filterFlags: readonly Flag[] = [
  { name: 'status', kind: 'list', value: 'STATUS', values: STATES, summary: 'Only pending, completed or failed; repeatable' },
  { name: 'url', kind: 'text', value: 'URL', summary: 'Only of exactly this URL' },
  {
    name: 'format',
    kind: 'text',
    value: 'FORMAT',
    values: ['png', 'jpeg', 'webp', 'avif', 'pdf', ...VIDEO_FORMATS],
    summary: 'Only in this format',
  },
  { name: 'batch-id', kind: 'text', value: 'ID', summary: 'Only of this batch of the API' },
  { name: 'external-identifier', kind: 'text', value: 'TEXT', summary: 'Only with your own id' },
]
const timeFlags: readonly Flag[] = [
  { name: 'created-after', kind: 'text', value: 'TIME', summary: 'Only after this time: 24h, 7d or ISO 8601' },
  { name: 'created-before', kind: 'text', value: 'TIME', summary: 'Only before this time: 24h, 7d or ISO 8601' },
]

/** The filters, without a limit. */
function toQuery(context: Context): ScreenshotQuery {
  const times = Object.entries(context.given(timeFlags)).map(([field, text]) => [
    field,
    toPastTime(toFlagName(field), String(text), context.world.now()),
  ])
  return { ...context.given(filterFlags), ...Object.fromEntries(times), ...(context.isOn('causes') && { status: 'failed' }) }
}

type Captures = ReturnType<typeof bothKinds>[number]

/** Prints how many failed for which cause, the most frequent first. */
async function printCauses(context: Context, captures: Captures): Promise<void> {
  const counts = new Map<string, number>()
  const { signal } = context.world
  for await (const { error } of captures.list({ ...toQuery(context), limit: MAX_PAGE, signal })) {
    const cause = error?.code ?? 'INTERNAL_ERROR'
    counts.set(cause, (counts.get(cause) ?? 0) + 1)
  }
  const causes = [...counts].sort(([, a], [, b]) => b - a).map(([code, count]) => ({ code, count }))
  context.showTable(causes, ['CAUSE', 'COUNT'], ({ code, count }) => [code, String(count)], 'nothing failed')
}

async function printRecords(context: Context, captures: Captures, noun: string): Promise<void> {
  const limit = context.number('limit') ?? DEFAULT_LIMIT
  if (limit < 1) throw new UsageError('--limit must be at least 1.')
  const found: Screenshot[] = []
  let count = 0
  // One more than is shown tells whether there are more.
  for await (const screenshot of captures.list({
    ...toQuery(context),
    limit: Math.min(limit + 1, MAX_PAGE),
    signal: context.world.signal,
  })) {
    count += 1
    if (count > limit) break
    if (context.isOn('json')) context.printJson(screenshot)
    else found.push(screenshot)
  }
  if (!context.isOn('json')) context.world.stdout.write(found.length === 0 ? `no ${noun}\n` : tableOf(found))
  if (count === 0 && context.text('url') !== undefined)
    context.note('--url finds exactly this URL, such as https://example.com/docs, and no part of it.')
  const more = limit === 1 ? `more ${noun} than this one` : `more than these ${limit} ${noun}`
  if (count > limit) context.note(`There are ${more}. Raise --limit, or filter with --status or --created-after.`)
}

export const list: Command = {
  name: 'list',
  summary: 'Lists screenshots, newest first',
  flags: [
    { name: 'limit', kind: 'integer', value: 'N', summary: `Number of screenshots; default: ${DEFAULT_LIMIT}` },
    { name: 'causes', kind: 'boolean', summary: 'Counts the failed ones by cause, without a limit' },
    { name: 'videos', kind: 'boolean', summary: 'Lists videos instead of screenshots' },
    ...filterFlags,
    ...timeFlags,
  ],
  async run(context) {
    const [screenshots, videos] = bothKinds(context.client())
    const isVideos = context.isOn('videos') || VIDEO_FORMATS.includes(context.text('format') ?? '')
    const captures = isVideos ? videos : screenshots
    if (context.isOn('causes') && context.list('status') !== undefined)
      throw new UsageError('--causes counts failed ones. Leave --status out.')
    await (context.isOn('causes') ? printCauses(context, captures) : printRecords(context, captures, isVideos ? 'videos' : 'screenshots'))
  },
}
