import { setTimeout as sleep } from 'node:timers/promises'
import {
  CaptureFailedError,
  type Screenshot,
  type ScreenshotQuery,
  type Tintype,
  TintypeError,
  type Video,
} from '../../../client/src/index.ts'
import { type Flag, toFlagName } from '../arguments/flag.ts'
import { toPastTime } from '../arguments/parse.ts'
import { writeFileFrom } from '../batch/capture.ts'
import { readLines } from '../batch/urls.ts'
import { EXIT, type ExitCode, UsageError } from '../common/errors.ts'
import { bothKinds, capturesIn, VIDEO_FORMATS, withKindOf } from '../common/kinds.ts'
import { formatBytes, formatFacts, formatTable, formatTime } from '../terminal/output.ts'
import type { Command, Context } from './context.ts'

const HOLD_SECONDS = 25
const POLL_MILLISECONDS = 2_000

export const get: Command = {
  name: 'get',
  usage: 'ID',
  summary: 'Shows a screenshot or video, or downloads its file',
  flags: [
    { name: 'output', short: 'o', kind: 'text', value: 'FILE', summary: 'Downloads the file to FILE; - is standard output' },
    { name: 'artifact', kind: 'text', value: 'TYPE', summary: 'Downloads this artifact instead, such as html' },
  ],
  async run(context) {
    const { signal, stdout } = context.world
    const output = context.text('output')
    const artifact = context.text('artifact')
    if (artifact !== undefined && output === undefined) throw new UsageError('--artifact needs -o FILE.')
    const client = context.client()
    const screenshot = await withKindOf(client, (captures) => captures.get(context.argument(0), { signal }))
    if (output === undefined) {
      context.show(screenshot, ...describeRecord(screenshot))
      return EXIT.ok
    }
    if (output === '-' && stdout.isTerminal) throw new UsageError('the file would be written to the terminal. Redirect the output.')
    const stream = await capturesIn(client, screenshot.format).streamOf(screenshot, { artifact: artifact as never, signal })
    if (output === '-') for await (const chunk of stream) stdout.write(chunk)
    else {
      await writeFileFrom(stream, output, signal)
      context.print(output)
    }
    return EXIT.ok
  },
}

/** Undefined if no screenshot or video has the id. */
async function ifFound<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof TintypeError && error.status === 404) return undefined
    throw error
  }
}

/** Deletes what has this id. False if nothing has it. */
const removeOne = async (client: Tintype, id: string, signal: AbortSignal): Promise<boolean> =>
  (await ifFound(withKindOf(client, (captures) => captures.delete(id, { signal }).then(() => true)))) ?? false

export const remove: Command = {
  name: 'delete',
  usage: 'ID...',
  summary: 'Deletes screenshots and videos with their files and links',
  notes: [
    'ID - reads ids from standard input, one on each line:',
    '',
    '  tintype list --status failed --json | jq -r .id | tintype delete -',
  ],
  async run(context) {
    const client = context.client()
    const { signal, stdin } = context.world
    const { positionals } = context.parsed
    const ids = positionals.length === 1 && positionals[0] === '-' ? await readLines(stdin) : positionals
    if (ids.length === 0) throw new UsageError('the list has no ids. Write one on each line.')
    let missing = 0
    for (const id of ids) {
      if (await removeOne(client, id, signal)) context.show({ id, deleted: true }, `deleted ${id}`)
      else {
        missing += 1
        context.note(`screenshot or video ${id} not found`)
      }
    }
    return missing === 0 ? EXIT.ok : EXIT.failed
  },
}

/** One line on a record, when its state changes. */
function printState(context: Context, screenshot: Screenshot): void {
  const { id, url, status, error, completed_at: completedAt } = screenshot
  const details = status === 'completed' ? describePicture(screenshot) : error ? `${error.code}: ${error.message}` : ''
  const time = formatTime(completedAt ?? screenshot.created_at)
  context.show(screenshot, `${time} ${id} ${stateOf(screenshot).padEnd(9)} ${url} ${details}`.trimEnd())
}

/** Follows one screenshot to its end. */
async function watchOne(context: Context, id: string): Promise<ExitCode> {
  const { signal } = context.world
  const client = context.client()
  let last = ''
  for (;;) {
    const started = performance.now()
    const screenshot = await withKindOf(client, (captures) => captures.get(id, { wait: HOLD_SECONDS, signal }))
    const state = stateOf(screenshot)
    if (state !== last) printState(context, screenshot)
    last = state
    if (screenshot.status === 'failed') throw new CaptureFailedError(screenshot)
    if (screenshot.status === 'completed') return EXIT.ok
    // A service that shuts down responds before the time is up.
    if (performance.now() - started < POLL_MILLISECONDS) await pause(signal)
  }
}

const pause = (signal: AbortSignal): Promise<void> =>
  sleep(POLL_MILLISECONDS, undefined, { signal }).catch(() => {
    throw signal.reason
  })

/** Follows all pending screenshots of the account until none is pending. */
async function watchAll(context: Context): Promise<ExitCode> {
  const { signal } = context.world
  const client = context.client()
  const pending = new Map<string, string>()
  let [ended, failed, deleted] = [0, 0, 0]
  for (;;) {
    const seen = new Set<string>()
    for (const captures of bothKinds(client)) {
      for await (const screenshot of captures.list({ status: 'pending', limit: MAX_PAGE, signal })) {
        seen.add(screenshot.id)
        if (pending.get(screenshot.id) !== stateOf(screenshot)) printState(context, screenshot)
        pending.set(screenshot.id, stateOf(screenshot))
      }
    }
    for (const id of [...pending.keys()].filter((known) => !seen.has(known))) {
      pending.delete(id)
      const screenshot = await ifFound(withKindOf(client, (captures) => captures.get(id, { signal })))
      if (screenshot) {
        printState(context, screenshot)
        ended += 1
        if (screenshot.status === 'failed') failed += 1
      } else {
        context.show({ id, deleted: true }, `deleted ${id}`)
        deleted += 1
      }
    }
    if (pending.size === 0) {
      const result = `${ended} ended, ${failed} failed${deleted > 0 ? `, ${deleted} deleted` : ''}.`
      context.note(ended + deleted === 0 ? 'Nothing is pending.' : result)
      return failed === 0 ? EXIT.ok : EXIT.failed
    }
    await pause(signal)
  }
}

export const watch: Command = {
  name: 'watch',
  usage: '[ID]',
  summary: 'Follows a screenshot or video, or all pending ones, until they end',
  run: (context) => (context.parsed.positionals[0] === undefined ? watchAll(context) : watchOne(context, context.argument(0))),
}

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

/** `1920 x 1080 png, 45.3 KiB, 1.2 s`, and for videos `1920 x 1080 mp4, 5 s at 30 fps, 2.1 MiB, 9.4 s` */
export function describePicture(record: Screenshot | Video): string {
  const { width, height, format, file_size_bytes: size, processing_duration_ms: duration } = record
  const pixels = width === null || height === null ? '' : `${width} x ${height} `
  const bytes = size === null ? '' : `, ${formatBytes(size)}`
  const seconds = duration === null ? '' : `, ${(duration / 1_000).toFixed(1)} s`
  const motion = 'fps' in record && record.duration_ms !== null ? `, ${record.duration_ms / 1_000} s at ${record.fps} fps` : ''
  return `${pixels}${format}${motion}${bytes}${seconds}`
}

/** The state of a record in one word. */
const stateOf = ({ status, started_at: startedAt }: Screenshot): string =>
  status === 'pending' && startedAt !== null ? 'capturing' : status

/** A record as lines of names and values. */
function describeRecord(screenshot: Screenshot): string[] {
  const { id, url, created_at, completed_at, status, error, warnings, artifacts, download_url } = screenshot
  const rows: [string, string][] = [
    ['id', id],
    ['url', url],
    ['status', stateOf(screenshot)],
    ['created', `${formatTime(created_at)} UTC`],
  ]
  if (completed_at) rows.push(['ended', `${formatTime(completed_at)} UTC`])
  if (status === 'completed') rows.push(['file', describePicture(screenshot)])
  if (download_url) rows.push(['link', download_url])
  if (error) rows.push(['error', `${error.code}: ${error.message}`])
  for (const { type, file_size_bytes: size } of artifacts) rows.push(['artifact', size === null ? type : `${type}, ${formatBytes(size)}`])
  for (const warning of warnings) rows.push(['warning', warning])
  return formatFacts(rows)
}

/** Records as a table. */
const tableOf = (screenshots: readonly Screenshot[]): string =>
  formatTable(
    ['ID', 'CREATED (UTC)', 'STATUS', 'FORMAT', 'SIZE', 'URL'],
    screenshots.map((screenshot) => [
      screenshot.id,
      formatTime(screenshot.created_at),
      screenshot.error ? `${screenshot.status} ${screenshot.error.code}` : stateOf(screenshot),
      screenshot.format,
      screenshot.file_size_bytes === null ? '-' : formatBytes(screenshot.file_size_bytes),
      screenshot.url,
    ]),
  )
