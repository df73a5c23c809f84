import t from 'tap'
import { isStoragePath } from '../../../../../crds/src/options/output/storage.ts'

t.test('isStoragePath takes paths that stay below the bucket, with braces that are known', async (t) => {
  for (const path of ['a', 'a/b.png', '{id}', '{host}/{date}/{id}.{format}', 'a..b/.c']) t.ok(isStoragePath(path), path)
  for (const path of ['', '/a', 'a/', 'a//b', '.', '..', 'a/../b', './a', '{url}', '{id', 'id}', '{{id}}', '{}'])
    t.notOk(isStoragePath(path), path)
})
