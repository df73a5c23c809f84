import { CaptureFailedError, type Screenshot, type ScreenshotRequest } from '../../../client/src/index.ts'
import { captureRecord, writeFileFrom } from '../batch/capture.ts'
import { toUrl } from '../batch/urls.ts'
import { EXIT, type ExitCode, UsageError } from '../common/errors.ts'
import { captureFlags, toCaptureOptions } from './capture-flags.ts'
import type { Command, Context } from './context.ts'
import { waitTimeoutOf } from './shot.ts'

const ID = /^scr_[0-7][0-9a-hjkmnp-tv-z]{25}$/
/** The command sets these itself, or cannot use them. */
const EXCLUDED = new Set(['async', 'compare-to', 'cache', 'cache-ttl', 'cache-key', 'cache-refresh'])
/** What a record shows of private and large options. */
const isHidden = (value: unknown): boolean => typeof value === 'string' && (value === '***' || value.endsWith('…'))

async function captureOne(context: Context, request: ScreenshotRequest): Promise<Screenshot> {
  const { signal } = context.world
  const screenshot = await captureRecord({ client: context.client(), request, waitTimeout: waitTimeoutOf(context), signal })
  if (screenshot.status !== 'failed') return screenshot
  if (context.isOn('json')) context.printJson(screenshot)
  throw new CaptureFailedError(screenshot)
}

/** The options of an earlier screenshot that its record shows, so that the new picture has the same viewport and format. */
function optionsOf({ options }: Screenshot): ScreenshotRequest {
  const shown = Object.entries(options).filter(([name, value]) => name !== 'compare_to' && !isHidden(value))
  return Object.fromEntries(shown) as ScreenshotRequest
}

const UNFIT: Readonly<Record<NonNullable<NonNullable<Screenshot['comparison']>['skipped']>, string>> = {
  blank: 'one color and almost nothing else',
  bot_challenge: 'a bot challenge or a captcha',
  http_error: 'an error page. --compare-accept-status accepts it',
  login: 'a login form',
  broken_off: 'a page whose response broke off',
}

/** `changed: 1.24 % of the pixels, in 2 regions` */
function describe({ comparison }: Screenshot): string {
  if (!comparison) return 'not compared'
  const { changed, skipped, changed_ratio: ratio, changed_pixels: pixels, region_count: count, size_changed: isResized } = comparison
  if (skipped !== null) return `not compared: the picture shows ${UNFIT[skipped]}`
  if (pixels === 0) return 'unchanged'
  const share = `${((ratio ?? 0) * 100).toPrecision(3)} % of the pixels`
  const places = count === 1 ? '1 region' : `${count} regions`
  return `${changed ? 'changed' : 'unchanged'}: ${share}, in ${places}${isResized ? ', and the size differs' : ''}`
}

async function run(context: Context): Promise<ExitCode> {
  const { signal } = context.world
  const client = context.client()
  const chosen = toCaptureOptions(context.parsed)
  const first = context.argument(0)
  const second = context.parsed.positionals[1]
  const isEarlier = ID.test(first)
  if (second !== undefined && ID.test(second)) {
    const order = isEarlier ? 'Name one id, and the URL of the page.' : 'Write the id first, then the URL.'
    throw new UsageError(`B must be a URL, because an earlier screenshot is compared with a new capture. ${order}`)
  }
  if (!isEarlier && second === undefined)
    throw new UsageError('a second URL is missing. Name two URLs, or the id of an earlier screenshot.')
  const before = isEarlier ? await client.screenshots.get(first, { signal }) : await captureOne(context, { ...chosen, url: toUrl(first) })
  const url = second === undefined ? before.url : toUrl(second)
  const after = await captureOne(context, { ...(isEarlier ? optionsOf(before) : {}), ...chosen, url, compare_to: before.id })
  const output = context.text('output')
  const hasDiff = after.artifacts.some(({ type }) => type === 'diff')
  if (output !== undefined && hasDiff)
    await writeFileFrom(await client.screenshots.streamOf(after, { artifact: 'diff', signal }), output, signal)
  context.show(after, describe(after))
  for (const warning of after.warnings) context.note(`warning: ${warning}`)
  return after.comparison?.changed ? EXIT.failed : EXIT.ok
}

export const diff: Command = {
  name: 'diff',
  usage: 'A [B]',
  summary: 'Compares two pages, or a page with an earlier screenshot',
  flags: [
    { name: 'output', short: 'o', kind: 'text', value: 'FILE', summary: 'Writes a picture of the differences' },
    { name: 'wait-timeout', kind: 'integer', value: 'SECONDS', summary: 'Maximum wait for a capture; default: 300' },
    ...captureFlags.filter(({ name }) => !EXCLUDED.has(name)),
  ],
  notes: [
    '  tintype diff staging.example.com example.com --full-page -o diff.png',
    "  tintype diff scr_… --compare-ignore '#clock'",
    '',
    'A is a URL, or the id of a screenshot. B is a URL; its default is the URL of A.',
    'Ends with exit code 1 if the page changed.',
  ],
  run,
}
