// Runs the samples of docs/webhooks.md unchanged. Each is written to a file, and a few additional lines call it: they read JSON from standard input,
// `[{secret, headers, body (base64)}]`, and write JSON to standard output, `[{isGenuine, isSigned}]`.

import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../cluster/host/exec.ts'
import { repository } from '../cluster/host/state.ts'
import type { ReceivedRequest } from '../support/servers/https-receiver.ts'

/** Results of a sample for `webhook-signature` and for `X-Webhook-Signature`. */
export interface Verdict {
  isGenuine: boolean
  isSigned: boolean
}

/** A request and the secret of its receiver. */
export type Question = Pick<ReceivedRequest, 'headers' | 'body'> & { secret: string }

const here = import.meta.dirname

/** Languages of the samples: the marker of their code in the page, and the command that runs it. */
const LANGUAGES = {
  TypeScript: { mark: 'ts', file: 'sample.ts', command: (file: string) => [process.execPath, join(here, 'verify.ts'), file] },
  Python: { mark: 'python', file: 'sample.py', command: (file: string) => ['python3', join(here, 'verify.py'), file] },
  Go: { mark: 'go', file: 'sample.go', command: (file: string) => ['go', 'run', file, join(file, '../verify.go')] },
}
export type Language = keyof typeof LANGUAGES

/** Languages of all samples. */
export const languages = Object.keys(LANGUAGES) as Language[]

/** The code block with this marker. @throws if there is not exactly one */
async function extract(mark: string): Promise<string> {
  const page = await readFile(join(repository, 'docs/webhooks.md'), 'utf8')
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${mark}\n(.*?)^\`\`\`$`, 'gms'))]
  if (blocks.length !== 1) throw new Error(`docs/webhooks.md has ${blocks.length} blocks of ${mark}`)
  return blocks[0]?.[1] ?? ''
}

/** Verifies requests with the sample in one language. Results are in the same order. */
export async function askSample(language: Language, questions: readonly Question[]): Promise<Verdict[]> {
  const { mark, file, command } = LANGUAGES[language]
  const directory = await mkdtemp(join(tmpdir(), 'tintype-sample-'))
  try {
    await writeFile(join(directory, file), await extract(mark))
    await copyFile(join(here, 'verify.go'), join(directory, 'verify.go'))
    const [program = '', ...args] = command(join(directory, file))
    const input = JSON.stringify(questions.map(({ secret, headers, body }) => ({ secret, headers, body: body.toString('base64') })))
    return JSON.parse(await run(program, args, { directory, environment: { GOTOOLCHAIN: 'local', GOFLAGS: '' }, input })) as Verdict[]
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
