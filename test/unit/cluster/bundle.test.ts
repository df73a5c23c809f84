import { readFile } from 'node:fs/promises'
import t from 'tap'
import { served } from '../../cluster/images/bundle.ts'
import { assertEvery } from '../../support/accepts.ts'

// No end-to-end test opens the API reference or draws a PDF with each of these files. A file that is missing fails the build of its image.

t.test('the image of the gateway has the files of packages that it serves', async (t) => {
  const source = await readFile(new URL('../../../api-gateway/src/openapi/docs-routes.ts', import.meta.url), 'utf8')
  const wanted = [...source.matchAll(/fromPackage\('([^']+)'/g)].map(([, file = '']) => file)
  t.ok(wanted.length >= 2)
  const copied = served['api-gateway']?.['swagger-ui-dist'] ?? []
  assertEvery(t, wanted, (file) => copied.includes(file))
})
