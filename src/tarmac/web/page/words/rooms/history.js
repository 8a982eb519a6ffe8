// The sentences of the history.
import { learn } from "/page/words/words.js";

/** @type {import("/page/words/words.js").Room} */
export const room = {
  en: {
    "history.search": "Search name, command, tags, errors",
    "history.span": "Ended within",
    "history.none": "No ended job matches.",
    "history.empty": "No job has ended yet. Ended jobs stay here, with their logs, until you remove them.",
    "history.csv": "CSV",
    "history.more": "{jobs}, and older ones",
    "history.unindexed": {
      one: "The index is being built: the {jobs} oldest job is missing.",
      other: "The index is being built: the {jobs} oldest jobs are missing.",
    },
    "history.newer": "More jobs have ended.",
    "history.show_newer": "Show them",
    "history.project": "Project",
    "history.tag": "Tag",
    "history.node": "Node",
    "span.ever": "Any time",
    "span.day": "Last day",
    "span.week": "Last 7 days",
    "span.month": "Last 30 days",
    "span.quarter": "Last 90 days",
    "do.again": "Run again",
    "did.again": { one: "Queued as job {id}.", other: "{n} jobs are queued, from {id} on." },
  },
  zh: {
    "history.search": "搜索名称、命令、标签、错误",
    "history.span": "结束时间",
    "history.none": "没有符合条件的已结束任务。",
    "history.empty": "还没有任务结束。已结束的任务和日志会一直保留在这里，直到你删除。",
    "history.csv": "CSV",
    "history.more": "{jobs}，还有更早的",
    "history.unindexed": { other: "正在建立索引：最早的 {jobs} 个任务暂时搜不到。" },
    "history.newer": "又有任务结束。",
    "history.show_newer": "查看",
    "history.project": "项目",
    "history.tag": "标签",
    "history.node": "节点",
    "span.ever": "不限时间",
    "span.day": "最近 1 天",
    "span.week": "最近 7 天",
    "span.month": "最近 30 天",
    "span.quarter": "最近 90 天",
    "do.again": "再次运行",
    "did.again": { other: "已提交 {n} 个任务，从任务 {id} 开始。" },
  },
};

learn(room);
