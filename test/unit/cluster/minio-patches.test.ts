import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { applyPatches, readModifications, sourceNotice } from '../../cluster/programs/minio-patches.ts'
import { createDirectory } from '../../support/directory.ts'

const directory = await createDirectory(t, 'patches')
const lines = Array.from({ length: 12 }, (_, place) => `line ${place + 1}`)
const patch = {
  name: '0001-change.patch',
  text: `Say why

--- a/cmd/file.go
+++ b/cmd/file.go
@@ -4,5 +4,5 @@
 line 4
 line 5
-line 6
+changed
 line 7
 line 8
`,
}

async function withSource(text: readonly string[]): Promise<{ source: string; read: () => Promise<string> }> {
  const source = await mkdtemp(path.join(directory, 'source-'))
  const file = path.join(source, 'cmd/file.go')
  await mkdir(path.dirname(file))
  await writeFile(file, `${text.join('\n')}\n`)
  return { source, read: () => readFile(file, 'utf8') }
}

t.test('applyPatches changes the source', async (t) => {
  const { source, read } = await withSource(lines)
  await applyPatches(source, [patch])
  t.equal(await read(), `${lines.join('\n')}\n`.replace('line 6\n', 'changed\n'))
})

t.test('applyPatches names the patch that does not apply', async (t) => {
  const { source } = await withSource(lines.map((line) => (line === 'line 5' ? 'other' : line)))
  await t.rejects(applyPatches(source, [patch]), { message: /^0001-change\.patch does not apply to the source of MinIO: .*FAILED/s })
})

t.test('applyPatches rejects a hunk that applies only with an offset', async (t) => {
  const { source } = await withSource(['one', 'two', ...lines])
  await t.rejects(applyPatches(source, [patch]), { message: /^0001-change\.patch was written for another version/ })
})

t.test('applyPatches does not apply a patch twice', async (t) => {
  const { source } = await withSource(lines)
  await applyPatches(source, [patch])
  await t.rejects(applyPatches(source, [patch]), { message: /^0001-change\.patch does not apply/ })
})

t.test('each patch of MinIO states its reason, and the notice names the version that is built', async (t) => {
  const { notice, patches } = await readModifications()
  t.ok(patches.length > 0)
  for (const { name, text } of patches) t.match(text, /^[A-Z].+\n\n[\s\S]+ \d{4}-\d\d-\d\d[\s\S]+AGPL-3\.0-or-later\.\n\n--- /, name)
  const all = patches.map(({ text }) => text).join()
  for (const id of ['CVE-2026-41145', 'CVE-2026-40344', 'CVE-2026-34204', 'CVE-2026-39414']) t.match(all, id)
  const programs = await readFile(new URL('../../cluster/programs/programs.ts', import.meta.url), 'utf8')
  const [, version] = /'github\.com\/minio\/minio@(.*?)'/.exec(programs)!
  t.match(notice, version!)
  t.match(notice, /modified .* on \d{4}-\d\d-\d\d/)
  const source = sourceNotice({ notice, patches })
  for (const { text } of patches) t.ok(source.includes(text))
})
