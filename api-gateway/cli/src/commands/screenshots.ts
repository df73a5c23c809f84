import { setTimeout as sleep } from 'node:timers/promises'
import { CaptureFailedError, type Screenshot, type Tintype, TintypeError } from '../../../client/src/index.ts'
import { writeFileFrom } from '../batch/capture.ts'
import { readLines } from '../batch/urls.ts'
import { EXIT, type ExitCode, UsageError } from '../common/errors.ts'
import { bothKinds, capturesIn, withKindOf } from '../common/kinds.ts'
import { formatTime } from '../terminal/format.ts'
import type { Command, Context } from './context.ts'
import { describePicture, describeRecord, stateOf } from './records.ts'

const MAX_PAGE = 500
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
