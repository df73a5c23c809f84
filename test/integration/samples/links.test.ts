import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { run } from '../../cluster/host/exec.ts'
import { repository } from '../../cluster/host/state.ts'
import { createDirectory } from '../../support/directory.ts'
import { startWorld } from '../api-gateway/world.ts'
import { accountsOf, captures, endEach, getPath, outcomeOf } from '../links/stage.ts'

// The samples of docs/links.md, in each language. A sample is run as the page has it, with the URL, the key and the secret of a real gateway in place of
// those of the page, and the gateway must accept its link.

const LANGUAGES: Readonly<Record<string, { file: string; command: readonly [string, ...string[]] }>> = {
  sh: { file: 'sample.sh', command: ['sh'] },
  ts: { file: 'sample.ts', command: [process.execPath] },
  python: { file: 'sample.py', command: ['python3'] },
  go: { file: 'sample.go', command: ['go', 'run'] },
  php: { file: 'sample.php', command: ['php'] },
  ruby: { file: 'sample.rb', command: ['ruby'] },
}

/** Languages of blocks that sign nothing. */
const NO_PROGRAMS = ['html', 'json']
const page = await readFile(path.join(repository, 'docs/links.md'), 'utf8')
const samples = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, language = '', code = '']) =>
  NO_PROGRAMS.includes(language) ? [] : [{ language, code }],
)

const world = await startWorld()
t.teardown(() => world.stop())
const gateway = await world.startGateway()
const { id, secret } = await accountsOf(world, gateway)('acme')
endEach(t, world, captures(world).end)
const directory = await createDirectory(t, 'links')

/** The client is imported from its sources. `sample.ts` does not print the link. */
const client = path.join(repository, 'api-gateway/client/src/index.ts')
const complete = (language: string, code: string): string =>
  language === 'ts' ? `${code.replace('@tintype/client', client)}\nconsole.log(link)\n` : code

/** Runs a sample with these texts in place of those of the page. Returns the link that it prints. */
async function linkOf(language: string, code: string, replacements: Readonly<Record<string, string>>): Promise<string> {
  const { file, command } = LANGUAGES[language]!
  let text = complete(language, code)
  for (const [old, given] of Object.entries(replacements)) {
    if (!text.includes(old)) throw new Error(`the sample in ${language} does not have ${old}`)
    text = text.replaceAll(old, given)
  }
  const place = path.join(directory, file)
  await writeFile(place, text)
  const [program, ...args] = command
  return (await run(program, [...args, place], { directory, environment: { GOTOOLCHAIN: 'local', GOFLAGS: '' } })).trim()
}

const real = {
  'https://tintype.example.com': gateway.url,
  key_01kajq2v0vtz8m3c5x7r9w4n6p: id,
  lsk_4f7d2c9b8a6e5d3c1b0a9f8e7d6c5b4a: secret,
}
const pages = {
  'of the page': 'https://example.com',
  // All characters that the encodings of the languages treat differently, and that no language must escape.
  'with unusual characters': 'https://example.com/a b+c/ä€😀(~-_.!*)?q=1&r=%2F[x]@:,;|#top',
}

t.strictSame(samples.map(({ language }) => language).sort(), Object.keys(LANGUAGES).sort(), 'each language has one sample')
for (const { language, code } of samples) {
  t.test(`the gateway accepts links that the sample in ${language} signs`, async (t) => {
    for (const [name, url] of Object.entries(pages)) {
      const link = await linkOf(language, code, { ...real, 'https://example.com': url })
      t.equal(new URL(link).searchParams.get('url'), url, name)
      t.equal(outcomeOf(await getPath(gateway.url, link.slice(gateway.url.length))), '200', name)
    }
    const wrong = await linkOf(language, code, { ...real, lsk_4f7d2c9b8a6e5d3c1b0a9f8e7d6c5b4a: 'lsk_wrong' })
    t.equal(outcomeOf(await getPath(gateway.url, wrong.slice(gateway.url.length))), '403 LINK_INVALID', 'control')
  })
}
