import t from 'tap'
import { Store } from '../../../../crds/client/lister.ts'
import { aThing, type Thing } from './scripted-server.ts'

const byColor = (thing: Thing) => thing.spec?.color
const byName = (thing: Thing) => thing.metadata.name
const names = (things: Thing[]) => things.map(byName)

t.test('lister returns an object by its key until it is deleted', async (t) => {
  const store = new Store<Thing>()
  t.equal(store.set(aThing('a', 1)), undefined)
  t.equal(store.get('default/a')?.metadata.resourceVersion, '1')
  t.equal(store.set(aThing('a', 2))?.metadata.resourceVersion, '1')
  t.equal(store.size, 1)
  t.equal(store.delete('default/a')?.metadata.resourceVersion, '2')
  t.equal(store.has('default/a'), false)
  t.equal(store.delete('default/a'), undefined)
})

t.test('lister moves an object between index values when it changes', async (t) => {
  const store = new Store<Thing>().addIndex('color', byColor)
  store.set(aThing('a', 1, { color: 'red' }))
  store.set(aThing('b', 1, { color: 'red' }))
  store.set(aThing('a', 2, { color: 'blue' }))
  t.strictSame(names(store.byIndex('color', 'red')), ['b'])
  t.strictSame(names(store.byIndex('color', 'blue')), ['a'])
  t.equal(store.countByIndex('color', 'red'), 1)
  t.strictSame(store.indexValues('color').sort(), ['blue', 'red'])
})

t.test('lister removes an index value with its last object', async (t) => {
  const store = new Store<Thing>().addIndex('color', byColor)
  store.set(aThing('a', 1, { color: 'red' }))
  store.delete('default/a')
  t.strictSame(store.indexValues('color'), [])
  t.strictSame(store.byIndex('color', 'red'), [])
  t.equal(store.countByIndex('color', 'red'), 0)
})

t.test('lister indexes an object under several values, and under none if the function returns undefined', async (t) => {
  const store = new Store<Thing>().addIndex('letters', ({ metadata }) => (metadata.name === '-' ? undefined : [...metadata.name]))
  store.set(aThing('aba', 1))
  store.set(aThing('-', 1))
  t.strictSame(names(store.byIndex('letters', 'a')), ['aba'])
  t.strictSame(names(store.byIndex('letters', 'b')), ['aba'])
  t.equal(store.indexValues('letters').length, 2)
})

t.test('lister indexes existing objects when an index is added later', async (t) => {
  const store = new Store<Thing>()
  store.set(aThing('a', 1, { color: 'red' }))
  store.addIndex('color', byColor)
  t.strictSame(names(store.byIndex('color', 'red')), ['a'])
})

t.test('lister refuses unknown indexes and a second index of the same name', async (t) => {
  const store = new Store<Thing>().addIndex('color', byColor)
  t.throws(() => store.byIndex('size', 'big'), { message: 'there is no index size' })
  t.equal(store.addIndex('color', byColor), store, 'several controllers may ask for the same index')
  t.throws(() => store.addIndex('color', () => 'blue'), { message: 'index color exists already' })
  t.throws(() => store.after('color', 'red', undefined, 1), { message: 'index color has no order' })
})

t.test('lister keeps an ordered index sorted through random changes', async (t) => {
  const store = new Store<Thing>().addIndex('all', () => 'all', { orderBy: byName })
  const expected = new Set<string>()
  let state = 7
  for (let n = 0; n < 2_000; n++) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    const name = `n${state % 150}`
    if (state % 3 === 0) {
      store.delete(`default/${name}`)
      expected.delete(name)
    } else {
      store.set(aThing(name, n))
      expected.add(name)
    }
  }
  t.strictSame(names(store.byIndex('all', 'all')), [...expected].sort())
})

t.test('lister pages through an ordered index from a cursor, even if its object was deleted', async (t) => {
  const store = new Store<Thing>().addIndex('color', byColor, { orderBy: byName })
  for (const name of ['d', 'b', 'a', 'c', 'e']) store.set(aThing(name, 1))
  t.strictSame(names(store.after('color', 'red', undefined, 2)), ['a', 'b'])
  store.delete('default/b')
  t.strictSame(names(store.after('color', 'red', 'b', 2)), ['c', 'd'])
  t.strictSame(names(store.after('color', 'red', 'd', 2)), ['e'])
  t.strictSame(store.after('color', 'blue', undefined, 2), [])
  t.strictSame(
    ['', 'a', 'b', 'd', 'x'].map((cursor) => store.countAfter('color', 'red', cursor)),
    [4, 3, 3, 1, 0],
    'countAfter tells how many are left',
  )
  t.equal(store.countAfter('color', 'blue', 'a'), 0)
})
