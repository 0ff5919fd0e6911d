package words

// englishStop are English function words: they carry no content of a question.
var englishStop = set(
	"a", "an", "the", "this", "that", "these", "those", "it", "its", "it's", "they", "them", "their", "he", "she", "his", "her", "him",
	"i", "me", "my", "you", "your", "we", "us", "our", "is", "are", "was", "were", "be", "been", "being", "am", "do", "does", "did",
	"done", "doing", "have", "has", "had", "having", "can", "could", "will", "would", "shall", "should", "may", "might", "must",
	"what", "which", "who", "whom", "whose", "when", "where", "why", "how", "and", "or", "but", "if", "then", "than", "so", "because",
	"of", "in", "on", "at", "by", "for", "with", "from", "to", "into", "onto", "as", "about", "over", "under", "between", "through", "during",
	"before", "after", "out", "up", "down", "off", "again", "not", "no", "nor", "only", "own", "same", "too", "very", "just", "also",
	"there", "here", "some", "any", "all", "each", "both", "few", "more", "most", "other", "such", "many", "much", "please", "whats",
	"isnt", "arent", "dont", "doesnt", "didnt", "wasnt", "cant", "im", "ive", "one", "ones", "exactly", "actually", "really", "ever", "still",
	"yes", "ok", "okay", "hi", "hello", "hey", "thanks", "thank", "within", "without", "while", "et", "upon",
)

// IsStop reports an English function word (folded).
func IsStop(word string) bool { return englishStop[word] }
