import t from 'tap'
import { isStoragePath } from '../../../../../crds/src/options/output/storage.ts'

t.test('isStoragePath accepts paths inside the bucket with known names in braces', async (t) => {
  for (const path of ['a', 'a/b.png', '{id}', '{host}/{date}/{id}.{format}', 'a..b/.c']) t.ok(isStoragePath(path), path)
  for (const path of ['', '/a', 'a/', 'a//b', '.', '..', 'a/../b', './a', '{url}', '{id', 'id}', '{{id}}', '{}'])
    t.notOk(isStoragePath(path), path)
})
