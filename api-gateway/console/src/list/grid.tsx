import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { toVisibleRange, type VisibleRange } from './visible-range.ts'

interface GridProps<T> {
  items: readonly T[]
  /** Height of a row with its gap, in pixels. */
  rowHeight: number
  /** Minimum width of a column. */
  columnWidth: number
  label: string
  /** Calls when the end of the list comes near. */
  onEnd: () => void
  /** Draws an item. It is called again when the item is another object, and once a minute for ages. */
  children: (item: T) => ComponentChildren
}

/** Pixels before the end of the list at which more is loaded. */
const AHEAD = 1_200
const MINUTE = 60_000

interface Drawn<T> {
  minute: number
  cells: ReadonlyMap<T, ComponentChildren>
}

interface View extends VisibleRange {
  columns: number
}

const isSame = (a: View, b: View): boolean =>
  a.start === b.start && a.end === b.end && a.before === b.before && a.after === b.after && a.columns === b.columns

/** A grid that draws only what the window shows. */
export function Grid<T extends { id: string }>({ items, rowHeight, columnWidth, label, onEnd, children }: GridProps<T>) {
  const list = useRef<HTMLUListElement>(null)
  const [view, setView] = useState<View>({ start: 0, end: 0, before: 0, after: 0, columns: 1 })
  const end = useRef(onEnd)
  end.current = onEnd
  const drawn = useRef<Drawn<T>>({ minute: 0, cells: new Map() })
  useLayoutEffect(() => {
    const measure = () => {
      const box = list.current?.getBoundingClientRect()
      if (!box) return
      const columns = Math.max(1, Math.floor(box.width / columnWidth))
      const range = toVisibleRange({ above: -box.top, height: innerHeight, columns, rowHeight, count: items.length })
      // Most scroll events stay in the same row, and draw nothing.
      setView((before) => (isSame(before, { ...range, columns }) ? before : { ...range, columns }))
      const bottom = box.top + Math.ceil(items.length / columns) * rowHeight
      if (bottom - innerHeight < AHEAD) end.current()
    }
    measure()
    addEventListener('scroll', measure, { passive: true })
    addEventListener('resize', measure)
    return () => {
      removeEventListener('scroll', measure)
      removeEventListener('resize', measure)
    }
  }, [items.length])
  const minute = Math.floor(Date.now() / MINUTE)
  const before = drawn.current.minute === minute ? drawn.current.cells : new Map<T, ComponentChildren>()
  // A cell that was drawn before is the same object, which preact skips. Others are not kept, because they keep their elements.
  const visible = items.slice(view.start, view.end)
  const cells = new Map(visible.map((item): [T, ComponentChildren] => [item, before.get(item) ?? children(item)]))
  drawn.current = { minute, cells }
  return (
    <ul
      ref={list}
      class="grid"
      aria-label={label}
      style={{ paddingTop: `${view.before}px`, paddingBottom: `${view.after}px`, '--columns': String(view.columns) }}
    >
      {visible.map((item, index) => (
        <li key={item.id} aria-setsize={-1} aria-posinset={view.start + index + 1}>
          {cells.get(item)}
        </li>
      ))}
    </ul>
  )
}
