import { accessSync, constants, mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { CaptureFailedError, type Screenshot, type ScreenshotRequest, TintypeError } from '../../../client/src/index.ts'
import type { Flag } from '../arguments/flag.ts'
import { captureRecord, writeArtifacts, writeFileFrom } from '../batch/capture.ts'
import { isDone, Progress, runBatch, StateFile, toFingerprint } from '../batch/run-batch.ts'
import { checkTemplate, DEFAULT_TEMPLATE, readUrls, toFileName, toFreeName, toUrl } from '../batch/urls.ts'
import { EXIT, type ExitCode, Interrupted, UsageError } from '../common/errors.ts'
import { capturesIn } from '../common/kinds.ts'
import { captureFlags, isInline, toCaptureOptions } from './capture-flags.ts'
import type { Command, Context } from './context.ts'
import { describePicture } from './screenshots.ts'

const DEFAULT_PARALLEL = 8
const MAX_PARALLEL = 64
/** A batch may run for hours, so it survives longer outages than other commands. */
const BATCH_RETRIES = 8

/** The flags that are not capture options. */
const shotFlags: readonly Flag[] = [
  { name: 'output', short: 'o', kind: 'text', value: 'FILE', summary: 'File, folder, or - for standard output' },
  { name: 'urls', kind: 'text', value: 'FILE', summary: 'Captures the URLs of FILE, or of - (standard input)' },
  { name: 'name', kind: 'text', value: 'TEMPLATE', summary: `File names; default: ${DEFAULT_TEMPLATE}` },
  {
    name: 'parallel',
    kind: 'integer',
    value: 'N',
    summary: `Captures at a time, 1 to ${MAX_PARALLEL}; default: ${DEFAULT_PARALLEL}`,
  },
  { name: 'restart', kind: 'boolean', summary: 'Forgets the progress of an interrupted batch' },
  { name: 'wait-timeout', kind: 'integer', value: 'SECONDS', summary: 'Maximum wait for a capture; default: 300' },
]

const EXTENSIONS: Readonly<Record<string, string>> = {
  '.png': 'png',
  '.jpg': 'jpeg',
  '.jpeg': 'jpeg',
  '.webp': 'webp',
  '.avif': 'avif',
  '.pdf': 'pdf',
  '.mp4': 'mp4',
  '.webm': 'webm',
  '.gif': 'gif',
}

const isFolder = (file: string): boolean => /[/\\]$/.test(file) || statSync(file, { throwIfNoEntry: false })?.isDirectory() === true

/** Milliseconds of --wait-timeout. */
export function waitTimeoutOf(context: Context): number | undefined {
  const seconds = context.number('wait-timeout')
  if (seconds !== undefined && seconds < 1) throw new UsageError('--wait-timeout must be at least 1 second.')
  return seconds === undefined ? undefined : seconds * 1_000
}

const formatOf = (file: string): string | undefined => EXTENSIONS[path.extname(file).toLowerCase()]

/** Without --format, the extension of the file decides. A file without an extension has the default format. */
function withFormat(options: ScreenshotRequest, file: string | undefined): ScreenshotRequest {
  if (file === undefined || isFolder(file)) return options
  const format = formatOf(file)
  const extension = path.extname(file)
  if (format === undefined && extension !== '' && options.format === undefined) {
    const known = Object.keys(EXTENSIONS).map((each) => each.slice(1))
    throw new UsageError(`-o ${file} has the extension ${extension}, which is no format. Use one of ${known.join(', ')}, or add --format.`)
  }
  if (format !== undefined && options.format !== undefined && options.format !== format) {
    throw new UsageError(`-o ${file} is the name of a ${format} file, but --format is ${options.format}. Change one of them.`)
  }
  return format === undefined ? options : ({ ...options, format } as ScreenshotRequest)
}

/** Refuses a file that cannot be written, before its capture is charged. */
function assertWritable(file: string): void {
  if (isFolder(file)) return
  const folder = path.dirname(file)
  try {
    accessSync(folder, constants.W_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(
      code === 'ENOENT'
        ? `the folder ${folder} does not exist. Create it, or name another file with -o.`
        : `you may not write to ${folder}. Name another file with -o.`,
    )
  }
}

function printResult(context: Context, screenshot: Screenshot, file: string | undefined): void {
  if (context.isOn('json')) context.printJson(file === undefined ? screenshot : { ...screenshot, file })
  else if (file !== undefined) context.print(file)
}

/** Captures one page. */
async function captureOne(context: Context, url: string | undefined): Promise<ExitCode> {
  const output = context.text('output')
  const isStandardOutput = output === '-'
  if (isStandardOutput && context.isOn('json'))
    throw new UsageError('-o - and --json both write to standard output. Leave one of them out.')
  if (isStandardOutput && context.world.stdout.isTerminal) {
    throw new UsageError('the picture would be written to the terminal. Redirect the output, or name a file with -o.')
  }
  const options = withFormat(toCaptureOptions(context.parsed), output)
  if (output !== undefined && !isStandardOutput) assertWritable(output)
  const client = context.client()
  const { signal } = context.world
  const request = url === undefined ? options : { ...options, url }
  if (context.isOn('async')) {
    const created = await capturesIn(client, request.format).create({ ...request, signal })
    context.show(created, created.id)
    return EXIT.ok
  }
  let id: string | undefined
  const waitTimeout = waitTimeoutOf(context)
  const onCreated = (created: string): void => {
    id = created
  }
  try {
    const screenshot = await captureRecord({ client, request, waitTimeout, signal, onCreated })
    if (screenshot.status === 'failed') {
      if (context.isOn('json')) context.printJson(screenshot)
      throw new CaptureFailedError(screenshot)
    }
    const stream = await capturesIn(client, screenshot.format).streamOf(screenshot, { signal })
    if (isStandardOutput) for await (const chunk of stream) context.world.stdout.write(chunk)
    const file = isStandardOutput ? undefined : toOutputFile(context, url, String(options.format ?? 'png'))
    if (file !== undefined) {
      await writeFileFrom(stream, file, signal)
      await writeArtifacts({ client, screenshot, file, signal }, (written) => context.note(`saved ${written}`))
    }
    printResult(context, screenshot, file)
    if (!context.isOn('json')) context.note(describePicture(screenshot))
    for (const warning of screenshot.warnings) context.note(`warning: ${warning}`)
    return EXIT.ok
  } catch (error) {
    if (id !== undefined) noteRest(context, id, error)
    throw error
  }
}

/** Says how to get the picture of a capture that was created, and whose command failed. */
function noteRest(context: Context, id: string, error: unknown): void {
  if (error instanceof Interrupted) context.note(`The capture continues. Run \`tintype watch ${id}\` to follow it.`)
  else if (!(error instanceof CaptureFailedError || error instanceof TintypeError)) {
    context.note(`The capture is ${id}. Run \`tintype get ${id} -o FILE\` to download its file.`)
  }
}

/** The file of a single capture. */
function toOutputFile(context: Context, url: string | undefined, format: string): string {
  const output = context.text('output')
  if (output !== undefined && !isFolder(output)) return output
  if (output !== undefined) mkdirSync(output, { recursive: true })
  const template = context.text('name') ?? DEFAULT_TEMPLATE
  return path.join(output ?? '.', toFileName(template, { url: url ?? '', number: 1, total: 1, format }))
}

/** The folder of a batch. It is created if it does not exist. */
function toFolder(output: string | undefined): string {
  if (output === '-') throw new UsageError('several pictures do not fit into standard output. Name a folder with -o.')
  const folder = output ?? '.'
  if (formatOf(folder) !== undefined && !isFolder(folder)) {
    throw new UsageError(`-o ${folder} is the name of one picture. Several pictures need a folder: write -o ${path.parse(folder).name}/.`)
  }
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new UsageError(`${folder} is a file. Several pictures need a folder: name one with -o.`)
  }
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Captures several pages. The same command continues after an interruption. */
async function captureBatch(context: Context, given: readonly string[]): Promise<ExitCode> {
  if (context.isOn('async'))
    throw new UsageError('--async captures one page. Leave it out: a batch that is interrupted continues on the next run.')
  const parallel = context.number('parallel') ?? DEFAULT_PARALLEL
  if (parallel < 1 || parallel > MAX_PARALLEL) throw new UsageError(`--parallel must be 1 to ${MAX_PARALLEL}, but is ${parallel}.`)
  const urls = [...new Set(given)]
  const template = context.text('name') ?? DEFAULT_TEMPLATE
  const options = toCaptureOptions(context.parsed)
  const waitTimeout = waitTimeoutOf(context)
  const client = context.client({ retries: BATCH_RETRIES })
  const folder = toFolder(context.text('output'))
  const format = String(options.format ?? 'png')
  const fingerprint = toFingerprint(context.serviceName, options, template)
  const state = StateFile.open({ folder, fingerprint, restart: context.isOn('restart') })
  const entries = urls.map((url, index) =>
    state.entryOf(url, (taken) => toFreeName(toFileName(template, { url, number: index + 1, total: urls.length, format }), taken)),
  )
  state.save()
  const done = entries.filter((entry) => isDone(folder, entry)).length
  if (done > 0) context.note(`Continuing: ${done} of ${urls.length} pages are done.`)
  const progress = new Progress(context.world.stderr, { total: urls.length, done })
  const { signal } = context.world
  try {
    await runBatch({
      ...{ client, state, entries, folder, options, parallel, waitTimeout, signal },
      onEnd: (entry, screenshot) =>
        progress.end(entry, () => {
          if (screenshot !== undefined)
            printResult(context, screenshot, entry.status === 'done' ? path.join(folder, entry.file) : undefined)
        }),
    })
  } catch (error) {
    progress.stop()
    context.note(`${progress.completed} of ${urls.length} pages are done. Repeat the command to continue.`)
    throw error
  }
  progress.stop()
  if (progress.failed === 0) state.remove()
  const retry = progress.failed === 0 ? '' : ` ${progress.failed} failed. Repeat the command to capture those again.`
  context.note(`${progress.completed} of ${urls.length} pages are done.${retry}`)
  return progress.failed === 0 ? EXIT.ok : EXIT.failed
}

async function run(context: Context): Promise<ExitCode> {
  const template = context.text('name')
  if (template !== undefined) checkTemplate(template)
  const { positionals } = context.parsed
  const source = context.text('urls')
  const listed = source === undefined ? [] : await readUrls(source, context.world.stdin)
  const urls = [...positionals.map(toUrl), ...listed]
  if (isInline(context, urls[0])) return captureOne(context, undefined)
  if (source === undefined && urls.length < 2) {
    if (urls[0] === undefined) throw new UsageError('a URL is missing. Name one, or a list of URLs with --urls FILE.')
    return captureOne(context, urls[0])
  }
  if (urls.length === 0) throw new UsageError('the list has no URLs. Write one on each line.')
  return captureBatch(context, urls)
}

export const shot: Command = {
  name: 'shot',
  usage: '[URL...]',
  summary: 'Captures pages and writes their pictures or videos to files',
  flags: [...shotFlags, ...captureFlags],
  notes: [
    '  tintype shot example.com --full-page -o page.png',
    '  tintype shot example.com --video-scenario scroll -o page.mp4',
    '  tintype shot --urls list.txt -o shots --format webp --parallel 4',
    '',
    'Every option of the API is a flag: `tintype --help options` lists them.',
    'File names are made from {host}, {path}, {n} and {format}.',
    'Several URLs are a batch. Repeat the command after an interruption.',
  ],
  run,
}
