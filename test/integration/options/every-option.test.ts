import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findUnproven, optionNames, readProofs } from '../../../crds/generate/options-page.ts'

const root = join(import.meta.dirname, '../../..')
const proofs = globSync('test/integration/**/*.test.ts', { cwd: root }).flatMap((file) =>
  readProofs(file, readFileSync(join(root, file), 'utf8')),
)

t.test('every option has a test in a real browser', async (t) => {
  t.strictSame(findUnproven(proofs), [])
})

t.test('every test names only options that exist', async (t) => {
  t.strictSame(
    proofs.filter(({ option }) => !optionNames.includes(option)),
    [],
  )
})
