import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { toVisibleRange } from './visible-range.ts'

interface GridProps<T> {
  items: readonly T[]
  /** Height of a row with its gap, in pixels. */
  rowHeight: number
  /** Minimum width of a column. */
  columnWidth: number
  label: string
  /** Calls when the end of the list comes near. */
  onEnd: () => void
  children: (item: T) => ComponentChildren
}

/** Pixels before the end of the list at which more is loaded. */
const AHEAD = 1_200

/** A grid that draws only what the window shows. */
export function Grid<T extends { id: string }>({ items, rowHeight, columnWidth, label, onEnd, children }: GridProps<T>) {
  const list = useRef<HTMLUListElement>(null)
  const [view, setView] = useState({ above: 0, height: 800, width: 800 })
  const end = useRef(onEnd)
  end.current = onEnd
  useLayoutEffect(() => {
    const measure = () => {
      const box = list.current?.getBoundingClientRect()
      if (!box) return
      setView({ above: -box.top, height: innerHeight, width: box.width })
      if (box.bottom - innerHeight < AHEAD) end.current()
    }
    measure()
    addEventListener('scroll', measure, { passive: true })
    addEventListener('resize', measure)
    return () => {
      removeEventListener('scroll', measure)
      removeEventListener('resize', measure)
    }
  }, [items.length])
  const columns = Math.max(1, Math.floor(view.width / columnWidth))
  const { start, end: last, before, after } = toVisibleRange({ ...view, columns, rowHeight, count: items.length })
  return (
    <ul
      ref={list}
      class="grid"
      aria-label={label}
      style={{ paddingTop: `${before}px`, paddingBottom: `${after}px`, '--columns': String(columns) }}
    >
      {items.slice(start, last).map((item, index) => (
        <li key={item.id} aria-setsize={-1} aria-posinset={start + index + 1}>
          {children(item)}
        </li>
      ))}
    </ul>
  )
}
