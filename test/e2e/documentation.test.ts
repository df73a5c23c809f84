import { readdir, readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { run } from '../cluster/host/exec.ts'
import { repository, sitesNamespace } from '../cluster/host/state.ts'
import { cluster, kubectl } from '../support/cluster/environment.ts'
import { ENVIRONMENT_FILE, NAMESPACE } from '../support/cluster/tested-release.ts'
import { createDirectory } from '../support/directory.ts'
import { decode } from '../support/picture.ts'
import { page } from '../support/servers/pages.ts'

// Runs the commands of the tutorial in docs/api.md unchanged, line by line in one shell.

const manual = await readFile(path.join(repository, 'docs/api.md'), 'utf8')
const chapterOf = (heading: string): string => new RegExp(`^## ${heading}$(.*?)^## `, 'ms').exec(manual)?.[1] ?? ''
const blocksOf = (text: string): string[] => [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)

const chapter = chapterOf('Quick start')
const blocks = blocksOf(chapter)
const byKubectl = blocksOf(chapterOf('From a Screenshot to its file with kubectl'))

/** The documented commands, with a page of the cluster, which needs no internet access. */
const toCommands = (texts: readonly string[]): string =>
  texts
    .join('')
    .replace('. .tintype/env', `. '${ENVIRONMENT_FILE}'`)
    .replaceAll('-n tintype', `-n ${NAMESPACE}`)
    .replaceAll('https://example.com/?page=2', page('/dark'))
    .replaceAll('https://example.com', page('/quadrants'))

/** Runs a script in a shell that exits at the first failed command, also in a pipe. Resolves to its output. @throws CommandError */
const type = (script: string, directory: string): Promise<string> =>
  run('bash', ['-euo', 'pipefail', '-c', script], { directory, environment: cluster.shell as Record<string, string> })

t.test('each command of the tutorial works unchanged', { timeout: 120_000 }, async (t) => {
  const directory = await createDirectory(t, 'manual')
  t.ok(blocks.length >= 6, `${blocks.length} blocks`)
  // The first block displays an image, the second stores another one under the same name.
  const output = await type(toCommands(blocks), directory)
  t.match(output, /"status": "completed"/)
  t.match(output, /"remaining": \d+/)
  const picture = await decode(await readFile(path.join(directory, 'shot.png')))
  t.strictSame([picture.format, picture.width, picture.height], ['png', 1920, 1080])
})

t.test('a receiver on the local cluster gets the documented events', { timeout: 180_000 }, async (t) => {
  const directory = await createDirectory(t, 'manual')
  t.teardown(() => kubectl(['delete', '-n', sitesNamespace, '--ignore-not-found', 'pod,service,secret', 'receiver']))
  const text = await readFile(path.join(repository, 'docs/webhooks.md'), 'utf8')
  const section = /^### A receiver of your own on the local cluster$(.*?)^## /ms.exec(text)?.[1] ?? ''
  const script = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block).join('')
  // Runs in a temporary directory instead of the checkout, so that no files remain.
  await symlink(path.dirname(ENVIRONMENT_FILE), path.join(directory, '.tintype'))
  const output = await type(script, directory)
  t.match(output, /"success": ?true/, 'the sample event was posted')
  t.match(output, /^screenshot\.completed \{.*"status":"completed"/m, 'the receiver printed an event')
  t.strictSame(await readdir(directory), ['.tintype'], 'no other files remain')
})

t.test('the documented commands lead from a Screenshot made with kubectl to its picture', { timeout: 150_000 }, async (t) => {
  const directory = await createDirectory(t, 'manual')
  t.equal(byKubectl.length, 2, 'a picture, and the number of failures by cause')
  await type(toCommands([blocks[0] ?? '', ...byKubectl]), directory)
  const picture = await decode(await readFile(path.join(directory, 'my-page.png')))
  t.strictSame([picture.format, picture.width, picture.height], ['png', 1920, 1080])
})

t.test('every line of the tutorial is a shell command', async (t) => {
  const lines = chapter.split('\n').filter((line) => line.trimStart().startsWith('curl') || line.includes('$(curl'))
  t.ok(lines.length > 0)
  t.strictSame(
    lines.filter((line) => !blocks.some((block) => block.includes(line))),
    [],
  )
})
