import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

t.test('generated files are up to date', async (t) => {
  const generator = fileURLToPath(new URL('../../../../crds/generate/main.ts', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [generator, '--check'], { encoding: 'utf8' })
  t.equal(status, 0, stderr)
})
