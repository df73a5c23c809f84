import { withDefaults } from '@tintype/crds/options/catalog'
import t from 'tap'
import { buildMetadata } from '../../../../capture-runner/src/plan/metadata.ts'

t.test('buildMetadata notes nothing unless it is asked to', async (t) => {
  t.strictSame(buildMetadata(withDefaults({})).notes, new Set())
})

t.test('buildMetadata notes what is asked for', async (t) => {
  t.strictSame(buildMetadata(withDefaults({ metadataFonts: true, metadataFinalUrl: true })).notes, new Set(['redirects', 'fonts']))
})
